// Claims: the table in shared memory by which both sides of a lane know, at any time, which calls have started.
//
// The host offers a call before it sends it; the thread claims it right before it runs it; the host may revoke an offer
// that was not claimed. Claiming and revoking exclude each other, so:
//
// C1  A call that was revoked is never run, although its message lies in the thread's queue already: it can be given to
//     another thread, or be cancelled, at once.
// C2  When a thread is gone, however it went, the host knows which calls had started on it.
//
// A slot holds the id offered, or its negative once claimed. Ids differ long enough for a stale message to find another
// id in its slot, so nobody has to wait for the thread to drop what was revoked.

/** More unfinished calls than this fit on no lane. */
export const CALLS_MAX = 4_096;
/** Twice as many as can be in use, so that the next id that finds its slot free is never far. */
const SLOTS = 2 * CALLS_MAX;
const SLOT_MASK = SLOTS - 1;
const ID_MAX = 2 ** 30;

export const slotOf = (id: number): number => id & SLOT_MASK;
export const nextId = (id: number): number => (id === ID_MAX ? 1 : id + 1);

export class Claims {
  readonly memory: SharedArrayBuffer;
  readonly #slots: Int32Array;

  constructor(memory = new SharedArrayBuffer(SLOTS * Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.#slots = new Int32Array(memory);
  }

  /** Of the host. */
  offer(id: number): void {
    Atomics.store(this.#slots, slotOf(id), id);
  }

  /** Of the host: whether the call was still to be had. */
  revoke(id: number): boolean {
    return Atomics.compareExchange(this.#slots, slotOf(id), id, 0) === id;
  }

  /** Of the host. */
  isClaimed(id: number): boolean {
    return Atomics.load(this.#slots, slotOf(id)) === -id;
  }

  /** Of the thread: whether the call is to be run. */
  claim(id: number): boolean {
    return Atomics.compareExchange(this.#slots, slotOf(id), id, -id) === id;
  }
}
