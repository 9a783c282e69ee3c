// A large value on its way from where it was made, encoded and in pieces: what a thread of the pool gives instead of a packet
// that would be copied several times.

import { decodeValue } from "./encoding.js";
import type { ClaimCheckCodec } from "./envelope.js";
import { piecesOf, StreamResult } from "./stream-result.js";
import type { StreamOfBytes } from "./stream-source.js";

export class EncodedStream extends StreamResult {
  readonly codec: ClaimCheckCodec | undefined;
  /** Of the mark on the value, if it was tainted. */
  readonly origin: string | undefined;

  constructor(stream: StreamOfBytes, codec: ClaimCheckCodec | undefined, origin: string | undefined) {
    super(stream);
    this.codec = codec;
    this.origin = origin;
  }

  async whole(signal: AbortSignal): Promise<Buffer> {
    const pieces: Uint8Array[] = [];
    // A copy of each: what comes from a thread lies in memory that is used again.
    for await (const piece of piecesOf(this, signal)) pieces.push(Buffer.from(piece));
    return Buffer.concat(pieces);
  }

  async value(signal: AbortSignal): Promise<unknown> {
    return decodeValue(await this.whole(signal), this.codec);
  }
}
