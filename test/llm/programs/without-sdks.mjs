// A program in whose reach no vendor's SDK is installed.

import { register } from "node:module";
import { AnthropicProvider, GeminiProvider, OpenAiProvider } from "heddle/llm";

const hooks = `
  export async function resolve(specifier, context, next) {
    if (/^(@anthropic-ai\\/sdk|openai|@google\\/genai)/.test(specifier)) throw new Error("Cannot find package " + specifier);
    return next(specifier, context);
  }`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);

const request = { messages: [{ role: "user", content: "hello" }] };
const failures = [];
for (const Provider of [AnthropicProvider, OpenAiProvider, GeminiProvider]) {
  const provider = new Provider({ apiKey: "k" });
  try {
    await provider.complete(request);
  } catch ({ code, message, retryable, details }) {
    failures.push({ code, message, retryable, details });
  }
}
process.stdout.write(JSON.stringify(failures));
