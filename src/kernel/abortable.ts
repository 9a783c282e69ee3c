// Abortable: what may be aborted and is rarely asked whether it was. The signal is made for whoever asks for it.

export class Abortable {
  #controller: AbortController | undefined;
  #aborted: { readonly reason: unknown } | undefined;

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
  }
}
