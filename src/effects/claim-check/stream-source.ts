// A stream of any make (Node's, the web's, anything that can be iterated) as one thing that is read and can be let go of.
//
// V1  Letting go does not wait for a read that is under way, and a stream that fails afterwards is nobody's unhandled error.

import { contained } from "../../kernel/deferred.js";
import { HeddleError } from "../../kernel/errors.js";

export type StreamOfBytes = AsyncIterable<Uint8Array | string> | ReadableStream<Uint8Array | string>;

export interface StreamRead {
  readonly done?: boolean | undefined;
  readonly value?: unknown;
}

export interface StreamSource {
  read(): Promise<StreamRead>;
  letGo(): void;
}

interface NodeStream {
  destroy(): unknown;
  on(event: "error", listener: () => void): unknown;
}

export function isStream(value: unknown): value is StreamOfBytes {
  return isWebStream(value) || isIterable(value);
}

/** Hears of errors from now on, so that one that comes before it is read is not the process's. */
export function watchErrors(stream: unknown): void {
  if (isNodeStream(stream)) stream.on("error", () => {});
}

/** Streams that can be read once, and were. To read one again would be to find it empty, and nobody would notice. */
const spent = new WeakSet<object>();

/** @throws INPUT_INVALID for a stream that somebody else reads, or that was read here before */
export function openSource(stream: StreamOfBytes): StreamSource {
  if (isWebStream(stream)) {
    if (stream.locked)
      throw new HeddleError(
        "INPUT_INVALID",
        "The stream is locked: somebody reads it already. Return one that nobody reads.",
      );
    const reader = stream.getReader();
    return { read: () => reader.read(), letGo: () => void contained(reader.cancel()) };
  }
  const iterator = stream[Symbol.asyncIterator]();
  // Others may make a new iterator each time.
  if (isNodeStream(stream) || (iterator as unknown) === stream) {
    if (spent.has(stream))
      throw new HeddleError(
        "INPUT_INVALID",
        "The stream was read before, for another call or attempt. Make a new one for each.",
      );
    spent.add(stream);
  }
  return {
    read: () => iterator.next(),
    letGo: () => {
      // The iterator of a Node stream would wait for the read that is under way.
      if (isNodeStream(stream)) destroy(stream);
      else void contained(Promise.resolve(iterator.return?.()));
    },
  };
}

/** Ends a stream that nobody is going to read; anything else is left alone. */
export function discardStream(value: unknown): void {
  if (isNodeStream(value)) destroy(value);
  else if (isWebStream(value)) {
    if (!value.locked) void contained(value.cancel());
  } else if (isIterable(value)) {
    const { return: end } = value as { readonly return?: unknown };
    if (typeof end === "function") void contained(Promise.resolve(end.call(value)));
  }
}

function destroy(stream: NodeStream): void {
  watchErrors(stream);
  stream.destroy();
}

function isNodeStream(value: unknown): value is NodeStream {
  const { destroy, on } = (value ?? {}) as { readonly destroy?: unknown; readonly on?: unknown };
  return typeof destroy === "function" && typeof on === "function";
}

function isWebStream(value: unknown): value is ReadableStream<Uint8Array | string> {
  const { getReader, cancel } = (value ?? {}) as { readonly getReader?: unknown; readonly cancel?: unknown };
  return typeof getReader === "function" && typeof cancel === "function";
}

function isIterable(value: unknown): value is AsyncIterable<Uint8Array | string> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}
