// One request to a vendor: it goes through the prompt boundary and follows the caller's signal, and whatever it fails with is an LlmError.

import { guardRequest } from "../guard/guard-request.js";
import type { GuardedRequest } from "../guard/guarded.js";
import { abortedError, LlmError } from "../llm-error.js";
import type { LlmRequest, LlmResponse, LlmStreamEvent } from "../provider.js";

export interface Caller {
  readonly provider: string;
  readonly signal: AbortSignal | undefined;
  readonly failureOf: (error: unknown) => LlmError;
}

export async function completing(
  caller: Caller,
  request: LlmRequest,
  send: (request: GuardedRequest, signal: AbortSignal) => Promise<LlmResponse>,
): Promise<LlmResponse> {
  const guarded = guardRequest(request);
  const { signal, release } = followed(caller);
  try {
    return await send(guarded, signal);
  } catch (error) {
    throw translated(error, caller);
  } finally {
    release();
  }
}

/** Leaving the loop ends the request: not every SDK sees to that. */
export async function* streaming(
  caller: Caller,
  request: LlmRequest,
  open: (request: GuardedRequest, signal: AbortSignal) => AsyncIterable<LlmStreamEvent>,
): AsyncGenerator<LlmStreamEvent, void> {
  const { signal, release } = followed(caller);
  try {
    for await (const event of open(guardRequest(request), signal)) {
      yield event;
      // Pieces that had come already are not told any more.
      signal.throwIfAborted();
    }
  } catch (error) {
    throw translated(error, caller);
  } finally {
    release();
  }
}

/** Its own signal, for what it is joined with may outlive thousands of requests. */
function followed({ provider, signal }: Caller): {
  readonly signal: AbortSignal;
  readonly release: () => void;
} {
  if (signal?.aborted) throw abortedError(provider, signal.reason);
  const controller = new AbortController();
  const abort = (): void => controller.abort(signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  return {
    signal: controller.signal,
    release: () => {
      signal?.removeEventListener("abort", abort);
      controller.abort();
    },
  };
}

function translated(error: unknown, { provider, signal, failureOf }: Caller): LlmError {
  // Some SDKs end a stream quietly, or with an error of their own, when it is aborted.
  if (signal?.aborted) return abortedError(provider, signal.reason);
  return error instanceof LlmError ? error : failureOf(error);
}
