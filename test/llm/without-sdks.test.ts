import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";

it("without a vendor's SDK heddle/llm loads, and the first request says what to install", () => {
  const program = join(import.meta.dirname, "programs/without-sdks.mjs");
  const failures = JSON.parse(execFileSync(process.execPath, [program], { encoding: "utf8" })) as object[];
  expect(failures).toEqual(
    [
      ["anthropic", "@anthropic-ai/sdk"],
      ["openai", "openai"],
      ["gemini", "@google/genai"],
    ].map(([provider, name]) => ({
      code: "LLM_SDK_MISSING",
      message: `The provider ${provider} speaks through ${name}, which could not be loaded. Install it: npm install ${name}`,
      retryable: false,
      details: { provider, package: name },
    })),
  );
});
