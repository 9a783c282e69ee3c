// Chunks: a source cut into pieces of one size. Each is a copy, so what is stored is what was hashed, whatever the owner of
// the bytes goes on to do with them.

import { HeddleError } from "../../errors.js";
import type { ContentSource } from "./content-store.js";

/** With LMDB's header it fills sixteen pages of 4 KiB exactly. */
export const CHUNK_BYTES = 64 * 1024 - 16;

/** The source in pieces of CHUNK_BYTES, the last one shorter. `lend` gives the memory each is written to. */
export async function* chunksOf(
  source: ContentSource,
  lend: () => Uint8Array = () => new Uint8Array(CHUNK_BYTES),
): AsyncGenerator<Uint8Array> {
  let chunk: Uint8Array | undefined;
  let filled = 0;
  for await (const piece of typeof source === "string" || source instanceof Uint8Array ? [source] : source) {
    let bytes = bytesOf(piece);
    while (bytes.length > 0) {
      chunk ??= lend();
      const taken = Math.min(bytes.length, chunk.length - filled);
      chunk.set(bytes.subarray(0, taken), filled);
      filled += taken;
      bytes = bytes.subarray(taken);
      if (filled < chunk.length) continue;
      yield chunk;
      chunk = undefined;
      filled = 0;
    }
  }
  if (chunk !== undefined) yield chunk.subarray(0, filled);
}

function bytesOf(piece: unknown): Uint8Array {
  if (typeof piece === "string") return Buffer.from(piece);
  if (piece instanceof Uint8Array) return piece;
  throw new HeddleError(
    "VALUE_NOT_RECORDABLE",
    `A stream of content gave ${piece === null ? "null" : `a value of type ${typeof piece}`}: it has to give bytes or text. ` +
      "Encode its items first, for example as a line of JSON each.",
  );
}
