// IncomingStream: a result that comes from a thread in pieces, to be read once.
//
// I1  A piece lies in memory that the thread writes to again: it is valid until the next one is asked for, and whoever wants to
//     keep it copies it. (A content store does.)

import { type Piece, placeOf } from "./protocol.js";

export interface StreamEnds {
  /** One more piece was read, and is not looked at any more. */
  readonly taken: () => void;
  /** Nobody reads on. */
  readonly letGo: () => void;
}

type End = { readonly error: unknown } | "done";

export class IncomingStream implements AsyncIterable<Uint8Array>, AsyncIterator<Uint8Array> {
  /** What the thread said when the stream had ended. */
  tail: unknown;
  readonly #ends: StreamEnds;
  #memory: SharedArrayBuffer | undefined;
  /** The lengths of pieces that were sent and not read. */
  readonly #waiting: number[] = [];
  #read = 0;
  #end: End | undefined;
  #wake: (() => void) | undefined;

  constructor(ends: StreamEnds) {
    this.#ends = ends;
  }

  /** What the thread has sent. */
  push(part: Piece[1]): void {
    if (part instanceof SharedArrayBuffer) this.#memory = part;
    if (typeof part !== "number" || this.#end) return;
    this.#waiting.push(part);
    this.#wake?.();
  }

  end(tail: unknown): void {
    this.tail = tail;
    this.#finish("done");
  }

  /** What was not read yet is dropped. */
  fail(error: unknown): void {
    if (this.#finish({ error })) this.#waiting.length = 0;
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array>> {
    if (this.#read > 0 && !this.#end) this.#ends.taken(); // I1
    for (;;) {
      const length = this.#waiting.shift();
      if (length !== undefined && this.#memory)
        return { done: false, value: placeOf(this.#memory, this.#read++, length) };
      if (this.#end === "done") return { done: true, value: undefined };
      if (this.#end) throw this.#end.error;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async return(): Promise<IteratorResult<Uint8Array>> {
    this.#waiting.length = 0;
    if (this.#finish("done")) this.#ends.letGo();
    return { done: true, value: undefined };
  }

  #finish(end: End): boolean {
    if (this.#end) return false;
    this.#end = end;
    this.#wake?.();
    return true;
  }
}
