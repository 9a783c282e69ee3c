// scriptedProvider: a model that says what it is told to. For tests, and for programs that run without a network.

import { setTimeout as timer } from "node:timers/promises";
import { checkCount, invalidOption } from "../../kernel/index.js";
import { abortedError, LlmError } from "../llm-error.js";
import {
  EVERYTHING,
  type LlmCallOptions,
  type LlmCapabilities,
  type LlmProvider,
  type LlmRequest,
  type LlmResponse,
  type LlmStreamEvent,
} from "../provider.js";
import { replyOf, responseOf, type ScriptedAnswer } from "./answer.js";
import { piecesOf } from "./pieces.js";
import { checkStrictly } from "./strict.js";

/** The answers in their order, or what to answer to a request. @param turn how many requests there were, this one included */
export type Script =
  | readonly ScriptedAnswer[]
  | ((request: LlmRequest, turn: number) => ScriptedAnswer | Promise<ScriptedAnswer>);

export interface ScriptedProviderOptions {
  /** Default "scripted". */
  readonly id?: string;
  /** Default: the id. */
  readonly model?: string;
  /** Default: all. */
  readonly capabilities?: LlmCapabilities;
  /** Refuses what strict providers refuse: calls and results that do not pair, users who speak twice, and the like. Default false. */
  readonly strict?: boolean;
  /** How many characters a piece of a stream has at most. Default 8. */
  readonly pieceChars?: number;
  /** How delays are waited for. Rejects when the signal aborts. Default: a timer of Node. */
  readonly sleep?: (delayMs: number, signal: AbortSignal | undefined) => Promise<void>;
}

export interface ScriptedProvider extends LlmProvider {
  /** Every request there was, refused ones too, in their order. */
  readonly requests: readonly LlmRequest[];
  stream(request: LlmRequest, options?: LlmCallOptions): AsyncIterable<LlmStreamEvent>;
}

/**
 * A provider that answers by a script. A list that has come to its end fails with LLM_REQUEST_REFUSED.
 *
 * @throws CONFIG_INVALID for a script or options that are none
 */
export function scriptedProvider(script: Script, options: ScriptedProviderOptions = {}): ScriptedProvider {
  const { id = "scripted", model = id, capabilities = EVERYTHING, strict = false, pieceChars = 8 } = options;
  const sleep = options.sleep ?? sleepByTimer;
  const answerTo = answering(script);
  checkCount("scriptedProvider: pieceChars", pieceChars, 1);
  const requests: LlmRequest[] = [];

  const begin = async (request: LlmRequest, signal: AbortSignal | undefined) => {
    const turn = requests.push(request);
    if (signal?.aborted) throw abortedError(id, signal.reason);
    if (strict) checkStrictly(id, request);
    const answer = await answerTo(request, turn);
    if (answer === undefined) throw endOfScript(id, turn);
    const reply = replyOf(answer);
    await pause(reply.delayMs, signal);
    return { reply, response: responseOf(reply, turn, request, model) };
  };
  const pause = async (delayMs = 0, signal: AbortSignal | undefined): Promise<void> => {
    try {
      if (delayMs > 0) await sleep(delayMs, signal);
    } catch (error) {
      if (!signal?.aborted) throw error;
    }
    if (signal?.aborted) throw abortedError(id, signal.reason);
  };

  return {
    id,
    capabilities,
    requests,
    async complete(request, { signal } = {}): Promise<LlmResponse> {
      const { reply, response } = await begin(request, signal);
      if (reply.error) throw reply.error;
      return response;
    },
    async *stream(request, { signal } = {}): AsyncGenerator<LlmStreamEvent> {
      const { reply, response } = await begin(request, signal);
      for (const piece of piecesOf(response, pieceChars)) {
        yield piece;
        await pause(reply.pieceDelayMs, signal);
      }
      if (reply.error) throw reply.error;
      yield { type: "end", response };
    },
  };
}

function answering(
  script: Script,
): (request: LlmRequest, turn: number) => ScriptedAnswer | undefined | Promise<ScriptedAnswer> {
  if (typeof script === "function") return script;
  const list: unknown = script;
  if (!Array.isArray(list))
    throw invalidOption("scriptedProvider: script", "must be a list of answers or a function of a request");
  return (_request, turn) => script[turn - 1];
}

function endOfScript(provider: string, turn: number): LlmError {
  return new LlmError(
    "LLM_REQUEST_REFUSED",
    `The script of ${provider} ends before answer number ${turn}: give it more of them, or a function of the request.`,
    {
      provider,
    },
  );
}

async function sleepByTimer(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  await timer(delayMs, undefined, signal && { signal });
}
