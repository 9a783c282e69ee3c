// Abortable: what may be aborted and is rarely asked whether it was. The signal is made for whoever asks for it,
// and nobody has to ask to hear of it.

import { appended } from "./exact-list.js";

interface Signalled {
  readonly signal: AbortSignal;
}

export class Abortable {
  #controller: AbortController | undefined;
  #aborted: { readonly reason: unknown } | undefined;
  #listeners: (() => void)[] | undefined;

  // Of any context: those that are none of ours, or made of one and given another signal, do not have these fields.

  /** Whether the signal of a context is aborted. */
  static isAborted(context: Signalled): boolean {
    return #aborted in context ? context.isAborted : context.signal.aborted;
  }

  /**
   * Calls back when the signal of a context is aborted, at once where it is.
   *
   * @returns the way to take it back
   */
  static watch(context: Signalled, aborted: () => void): () => void {
    if (Abortable.isAborted(context)) {
      aborted();
      return () => {};
    }
    if (#aborted in context) return context.#watch(aborted);
    const { signal } = context;
    signal.addEventListener("abort", aborted);
    return () => signal.removeEventListener("abort", aborted);
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#aborted) this.#controller.abort(this.#aborted.reason);
    }
    return this.#controller.signal;
  }

  get isAborted(): boolean {
    return this.#aborted !== undefined;
  }

  abort(reason: unknown): void {
    this.#aborted = { reason };
    this.#controller?.abort(reason);
    const listeners = this.#listeners ?? [];
    this.#listeners = undefined;
    for (const listener of listeners) listener();
  }

  #watch(aborted: () => void): () => void {
    this.#listeners = appended(this.#listeners, aborted);
    return () => {
      this.#listeners = this.#listeners?.filter((listener) => listener !== aborted);
    };
  }
}
