// streamResult: a result that is too large to hold. The effect gives a stream; the claim check pipes it into the content store
// before the effect counts as done, and what is recorded is a small envelope.

import { HeddleError } from "../../kernel/errors.js";
import { checkedDigest, digestFailed } from "./checked-digest.js";
import {
  discardStream,
  isStream,
  openSource,
  type StreamOfBytes,
  type StreamRead,
  type StreamSource,
  watchErrors,
} from "./stream-source.js";

export interface StreamResultOptions {
  /**
   * What a flow may know of the result: a value, or a function that is called when the stream has ended, for what is computed
   * while it is produced.
   */
  readonly digest?: unknown;
  /** A MIME type, kept in the envelope. */
  readonly contentType?: string | undefined;
}

/** What becomes of the words of a stream, which come when the effect that gave it has long returned. */
export interface StreamVeil {
  /** Of what it fails with. */
  readonly failure: (error: unknown) => unknown;
  /** Of what it says of itself: its digest and its type. */
  readonly shown: (value: unknown) => unknown;
}

const NO_VEIL: StreamVeil = { failure: (error) => error, shown: (value) => value };

/** What `streamResult` gives, for the effect to return. */
export class StreamResult {
  readonly stream: StreamOfBytes;
  /** Makes the call again whose stream was lost through no fault of its own. */
  again: (() => Promise<unknown>) | undefined;
  readonly #digest: () => unknown;
  readonly #contentType: string | undefined;
  #veil = NO_VEIL;

  constructor(stream: StreamOfBytes, { digest, contentType }: StreamResultOptions = {}) {
    this.stream = stream;
    this.#contentType = contentType;
    this.#digest = isFunction(digest) ? digest : () => digest;
  }

  /** A second veil goes over the first. */
  veil({ failure, shown }: StreamVeil): void {
    const inner = this.#veil;
    this.#veil = {
      failure: (error) => failure(inner.failure(error)),
      shown: (value) => shown(inner.shown(value)),
    };
  }

  get contentType(): string | undefined {
    return this.#veil.shown(this.#contentType) as string | undefined;
  }

  /** What is told of an error of the stream. */
  failure(error: unknown): unknown {
    return this.#veil.failure(error);
  }

  /**
   * Once the stream has ended.
   *
   * @throws DIGEST_FAILED
   */
  async digest(toolId: string): Promise<unknown> {
    try {
      return checkedDigest(await this.#ownDigest(toolId), toolId, this.#veil.shown);
    } catch (error) {
      throw this.failure(error);
    }
  }

  async #ownDigest(toolId: string): Promise<unknown> {
    try {
      return await this.#digest();
    } catch (error) {
      throw digestFailed(toolId, "threw", error);
    }
  }

  /** Lets the stream go: nobody is going to read it. */
  discard(): void {
    discardStream(this.stream);
  }
}

/**
 * The result of an effect as a stream of bytes or text: one of Node, of the web, or any async iterable. It needs
 * `execution.claimCheck`, or a `claimCheckMiddleware`.
 *
 * @throws INPUT_INVALID for what is no stream, or is being read already
 */
export function streamResult(stream: StreamOfBytes, options?: StreamResultOptions): StreamResult {
  if (!isStream(stream)) {
    throw new HeddleError(
      "INPUT_INVALID",
      "streamResult takes a Readable, a ReadableStream or an async iterable of bytes or text. Return anything else as it is.",
    );
  }
  watchErrors(stream);
  return new StreamResult(stream, options);
}

function isFunction(digest: unknown): digest is () => unknown {
  return typeof digest === "function";
}

/** Lets go of the streams in a result that will not be recorded: itself, its properties, and what lists and plain objects hold. */
export function discardStreams(result: unknown): void {
  try {
    letGoWithin(result, LET_GO_DEPTH);
  } catch {
    // A trap of a Proxy, or a destroy() of somebody else's: the result is refused as it is.
  }
}

/** A mark of taint takes two levels, a list of rows as many. */
const LET_GO_DEPTH = 6;

function letGoWithin(result: unknown, depth: number): void {
  if (typeof result !== "object" || result === null || ArrayBuffer.isView(result)) return;
  if (isStream(result)) return discardStream(result);
  if (result instanceof StreamResult) return result.discard();
  if (depth === 0) return;
  for (const key of Object.keys(result)) {
    const part: unknown = Object.getOwnPropertyDescriptor(result, key)?.value;
    letGoWithin(part, isPlain(part) ? depth - 1 : 0);
  }
}

/** Of other objects nobody knows whose the streams in them are. */
function isPlain(value: unknown): boolean {
  if (Array.isArray(value)) return true;
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** The pieces of the stream, until the signal is aborted. It is let go of however that ends. */
export async function* piecesOf(
  result: StreamResult,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array | string> {
  if (signal?.aborted) {
    result.discard();
    throw signal.reason;
  }
  const source = opened(result);
  let stop: ((reason: unknown) => void) | undefined;
  const onAbort = (): void => stop?.(signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    for (;;) {
      // Not a race with one promise for all: that would keep every piece alive until the end.
      const read = await new Promise<StreamRead>((resolve, reject) => {
        stop = reject;
        if (signal?.aborted) reject(signal.reason as Error);
        source.read().then(resolve, (error: unknown) => reject(result.failure(error) as Error));
      });
      if (read.done) return;
      yield read.value as Uint8Array | string;
    }
  } finally {
    signal?.removeEventListener("abort", onAbort);
    source.letGo();
  }
}

function opened(result: StreamResult): StreamSource {
  try {
    return openSource(result.stream);
  } catch (error) {
    throw result.failure(error);
  }
}
