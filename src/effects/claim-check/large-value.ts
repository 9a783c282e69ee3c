// A value that is too large for a packet, as a stream of its encoding. Loaded when there is one.

import { taintOrigin } from "../../kernel/taint.js";
import { EncodedStream } from "./encoded-stream.js";
import { encodeValue, isBytes } from "./encoding.js";

/** Undefined for what cannot be encoded. */
export function streamOfLarge(value: unknown): EncodedStream | undefined {
  const encoded = encodeValue(value);
  if (!encoded) return undefined;
  const origin = isBytes(value) ? undefined : taintOrigin(value);
  return new EncodedStream(inOnePiece(encoded.bytes), encoded.codec, origin);
}

async function* inOnePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
