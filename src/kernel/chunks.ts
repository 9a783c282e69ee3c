// Chunks: a source of bytes or text cut into pieces of one size. Each is a copy, so what is stored is what was hashed, whatever
// the owner of the bytes goes on to do with them.

import { HeddleError } from "./errors.js";

/** Bytes, text (as UTF-8), or a stream of either: of Node, of the web, or any other that can be iterated. */
export type ContentSource = Uint8Array | string | AsyncIterable<Uint8Array | string>;

/** `lend` gives the memory of each chunk, which is filled before the next is lent; the last one is given as far as it is filled. */
export async function* chunksOf(source: ContentSource, lend: () => Uint8Array): AsyncGenerator<Uint8Array> {
  let chunk: Uint8Array | undefined;
  let filled = 0;
  for await (const bytes of bytesIn(source)) {
    for (let start = 0; start < bytes.length; ) {
      chunk ??= lend();
      const taken = Math.min(bytes.length - start, chunk.length - filled);
      chunk.set(bytes.subarray(start, start + taken), filled);
      filled += taken;
      start += taken;
      if (filled < chunk.length) continue;
      yield chunk;
      chunk = undefined;
      filled = 0;
    }
  }
  if (chunk !== undefined) yield chunk.subarray(0, filled);
}

function bytesIn(source: ContentSource): Iterable<Uint8Array> | AsyncIterable<Uint8Array> {
  if (typeof source === "string") return [Buffer.from(source)];
  if (source instanceof Uint8Array) return [source];
  const { [Symbol.asyncIterator]: pieces } = (source ?? {}) as Partial<typeof source>;
  if (typeof pieces === "function") return bytesOfPieces(source);
  throw new HeddleError(
    "VALUE_NOT_RECORDABLE",
    "Content is bytes (a Uint8Array), text, or a stream of either.",
  );
}

/** Text that was cut in the middle of a character (a surrogate pair) is whole again. */
async function* bytesOfPieces(pieces: AsyncIterable<unknown>): AsyncGenerator<Uint8Array> {
  let half = "";
  for await (const piece of pieces) {
    if (typeof piece === "string") {
      const text = half + piece;
      half = /[\uD800-\uDBFF]$/.test(text) ? text.slice(-1) : "";
      yield Buffer.from(text.slice(0, text.length - half.length));
    } else {
      if (half !== "") yield Buffer.from(half);
      half = "";
      yield checkedBytes(piece);
    }
  }
  if (half !== "") yield Buffer.from(half);
}

function checkedBytes(piece: unknown): Uint8Array {
  if (piece instanceof Uint8Array) return piece;
  throw new HeddleError(
    "VALUE_NOT_RECORDABLE",
    `A stream of content gave ${piece === null ? "null" : `a value of type ${typeof piece}`}: it has to give bytes or text. ` +
      "Encode its items first, for example as a line of JSON each.",
  );
}
