// The model: a script, or a real one whose key is in the environment. The script answers to the conversation it is shown, so it works
// on any tree and holds nothing: after the kill it goes on where the log says the conversation is.

import {
  AnthropicProvider,
  GeminiProvider,
  type LlmMessage,
  type LlmProvider,
  type LlmRequest,
  OpenAiProvider,
  type ScriptedAnswer,
  scriptedProvider,
} from "heddle/llm";

export interface Model {
  /** In words for the screen. */
  readonly title: string;
  readonly provider: LlmProvider;
}

/** Undefined where there is no key. */
export function modelOf(isLive: boolean, name: string | undefined): Model | undefined {
  if (!isLive) return { title: "a script, offline", provider: scriptedProvider(answerTo, { id: "script" }) };
  const options = name === undefined ? {} : { model: name };
  const has = (variable: string): boolean => (process.env[variable] ?? "") !== "";
  if (has("ANTHROPIC_API_KEY")) return { title: "Anthropic", provider: new AnthropicProvider(options) };
  if (has("OPENAI_API_KEY")) return { title: "OpenAI", provider: new OpenAiProvider(options) };
  if (has("GEMINI_API_KEY")) return { title: "Gemini", provider: new GeminiProvider(options) };
  return undefined;
}

/** A model takes its time; a script that did not would be over before anybody has seen it. */
const THINKING_MS = 150;

function answerTo({ messages }: LlmRequest): ScriptedAnswer {
  const turn = messages.filter(({ role }) => role === "assistant").length;
  const [first = "nothing", second = first] = packagesIn(messages);
  const calls = (...toolCalls: { name: string; input: unknown }[]): ScriptedAnswer => ({
    toolCalls: toolCalls.map((call, i) => ({ id: `t${turn}-${i}`, ...call })),
    delayMs: THINKING_MS,
  });
  switch (turn) {
    case 0:
      return calls({ name: "list_packages", input: { limit: 8 } });
    case 1:
      return calls(
        { name: "read_license", input: { name: first } },
        { name: "read_license", input: { name: second } },
      );
    case 2:
      return calls(
        { name: "read_changelog", input: { name: first } },
        { name: "search_files", input: { name: second, text: "deprecated" } },
      );
    case 3:
      return calls({
        name: "propose_change",
        input: {
          name: first,
          change: "pin",
          reason: "Its licence and its changelog were read; the next major one is for a person to look at.",
        },
      });
    default: {
      const declined = JSON.stringify(messages.at(-1)?.content).includes("declined");
      return {
        content: `I looked at ${first} and ${second}. ${declined ? "The change was declined, so nothing is written down." : `I wrote down that ${first} is to be pinned.`}`,
        delayMs: THINKING_MS,
      };
    }
  }
}

/** The first and the last package of the list that a tool gave. */
function packagesIn(messages: readonly LlmMessage[]): string[] {
  const list = messages.find((message) => message.role === "tool" && message.toolName === "list_packages");
  const names = [...JSON.stringify(list?.content ?? "").matchAll(/\\?"name\\?":\\?"([^"\\]+)/g)].map(
    ([, name = ""]) => name,
  );
  const [first] = names;
  const last = names.at(-1);
  return first === undefined || last === undefined ? [] : [first, last];
}
