// Generation: what has come of an answer so far, put together from the pieces of a stream.

import { HeddleError } from "../../kernel/index.js";
import type {
  LlmRequest,
  LlmResponse,
  LlmStreamEvent,
  LlmToolCall,
  ReasoningBlock,
} from "../../llm/index.js";

/** In UTF-16 units, of everything a model generates in one call. No log takes a larger answer, and no stream is for ever. */
const ANSWER_UNITS_MAX = 16 * 1024 * 1024;

interface CallSoFar {
  id: string | undefined;
  name: string | undefined;
  input: string;
}

export class Generation {
  readonly #provider: string;
  #content = "";
  #reasoning = "";
  readonly #calls = new Map<number, CallSoFar>();
  /** All of it in the order in which it came: what a guard judges. */
  #text = "";

  constructor(provider: string) {
    this.#provider = provider;
  }

  /** Everything the model has generated, reasoning and arguments too: all of it is paid for. */
  get text(): string {
    return this.#text;
  }

  /** @throws VALUE_TOO_LARGE */
  take(piece: Exclude<LlmStreamEvent, { type: "end" }>): void {
    const { type, delta } = piece;
    this.#text += delta;
    if (this.#text.length > ANSWER_UNITS_MAX) {
      throw new HeddleError(
        "VALUE_TOO_LARGE",
        `The stream of ${this.#provider} was cut: its answer is longer than ${ANSWER_UNITS_MAX} characters.`,
        { details: { limit: ANSWER_UNITS_MAX } },
      );
    }
    if (type === "text") this.#content += delta;
    else if (type === "reasoning") this.#reasoning += delta;
    else {
      const call = this.#calls.get(piece.index) ?? { id: undefined, name: undefined, input: "" };
      call.id ??= piece.id;
      call.name ??= piece.name;
      call.input += delta;
      this.#calls.set(piece.index, call);
    }
  }

  /** What there is, as an answer. A call that nobody could answer, for it has no id or name yet, is not in it. */
  soFar(request: LlmRequest): LlmResponse {
    const toolCalls = [...this.#calls.values()].flatMap(callsOf);
    const reasoning: ReasoningBlock[] =
      this.#reasoning === "" ? [] : [{ kind: "reasoning", provider: this.#provider, text: this.#reasoning }];
    return {
      content: this.#content,
      ...(toolCalls.length > 0 && { toolCalls }),
      stopReason: "other",
      usage: {
        inputTokens: aQuarter(JSON.stringify(request, withoutBytes)),
        outputTokens: aQuarter(this.#text),
      },
      ...(reasoning.length > 0 && { reasoning }),
    };
  }
}

function callsOf({ id, name, input }: CallSoFar): LlmToolCall[] {
  if (id === undefined || name === undefined) return [];
  try {
    return [{ id, name, input: JSON.parse(input) as unknown }];
  } catch {
    return [{ id, name, input: undefined, malformed: input }];
  }
}

/** What an image costs has little to do with its bytes. */
function withoutBytes(key: string, value: unknown): unknown {
  return key === "data" ? undefined : value;
}

/** Tokens, roughly. An interrupted stream was paid for, and its end, which tells the figures, never came. */
function aQuarter(text: string): number {
  return Math.ceil(text.length / 4);
}
