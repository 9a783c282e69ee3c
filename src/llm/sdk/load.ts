import { LlmError } from "../llm-error.js";

/**
 * A vendor's SDK, which is there only where somebody installed it.
 *
 * @throws LLM_SDK_MISSING
 */
export async function loadSdk<T>(provider: string, packageName: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    throw new LlmError(
      "LLM_SDK_MISSING",
      `The provider ${provider} speaks through ${packageName}, which could not be loaded. Install it: npm install ${packageName}`,
      { provider, details: { package: packageName }, cause },
    );
  }
}
