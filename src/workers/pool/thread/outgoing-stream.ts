// OutgoingStream: a result on its way out of the thread in pieces, no faster than the host takes them.
//
// B1  What was sent and not taken is bounded: however fast the stream is, neither side holds more of it than the memory both share.
// B2  A piece is written to a place that the host has taken everything from. Nothing is allocated for it on either side.
// B3  What the stream itself allocates is freed in time: V8 lets 32 MB of buffers pile up before it looks for those that nobody
//     has any more, and looks at once when objects fill its young generation. So a few objects are made now and then.

import type { MessagePort } from "node:worker_threads";
import { piecesOf, type StreamResult } from "../../../effects/claim-check/stream-result.js";
import { chunksOf } from "../../../kernel/chunks.js";
import type { Wire } from "../../../kernel/codec/index.js";
import { PIECE_BYTES, PIECES_MAX, type Piece, placeOf } from "../protocol.js";

import { formOf } from "../stream-form.js";

/** The call whose result it is. */
export interface StreamOwner {
  readonly id: number;
  readonly toolId: string;
}

export class OutgoingStream {
  readonly #owner: StreamOwner;
  readonly #result: StreamResult;
  readonly #port: MessagePort;
  readonly #memory = new SharedArrayBuffer(PIECES_MAX * PIECE_BYTES);
  #sent = 0;
  #taken = 0;
  #wake: (() => void) | undefined;

  constructor(owner: StreamOwner, result: StreamResult, port: MessagePort) {
    this.#owner = owner;
    this.#result = result;
    this.#port = port;
  }

  /** What the host has to know of it first. */
  get form(): Wire {
    return formOf(this.#result);
  }

  /** The host has taken one more. */
  pieceTaken(): void {
    this.#taken += 1;
    this.#wake?.();
  }

  /** Sends all of it. Gives its digest. */
  async send(signal: AbortSignal): Promise<unknown> {
    this.#post(this.#memory);
    const place = (): Uint8Array => placeOf(this.#memory, this.#sent); // B2
    for await (const piece of chunksOf(piecesOf(this.#result, signal), place)) {
      this.#sent += 1;
      if (this.#sent % PIECES_MAX === 0) makeGarbage(); // B3
      this.#post(piece.length);
      while (this.#sent - this.#taken >= PIECES_MAX) await this.#room(signal); // B1
    }
    return this.#result.digest(this.#owner.toolId);
  }

  #post(part: Piece[1]): void {
    this.#port.postMessage([this.#owner.id, part] satisfies Piece);
  }

  #room(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      const stop = (): void => reject(signal.reason as Error);
      signal.addEventListener("abort", stop, { once: true });
      this.#wake = () => {
        signal.removeEventListener("abort", stop);
        resolve();
      };
    });
  }
}

let garbage: readonly number[] = [];

/** About 2 MB of it, none of which is kept for longer than the next takes. */
function makeGarbage(): void {
  for (let n = 0; n < 64; n++) garbage = Array.from({ length: 4_000 }, () => garbage.length + n);
}
