// HookWindow: how far the thread may run ahead of the host's hooks. Events for hooks are counted in bytes until the host
// says that they went through; while the window is used up, no partition of the thread begins another pass.

export class HookWindow {
  readonly #bytesMax: number;
  #bytes = 0;
  #opened: Promise<void> | undefined;
  #open: () => void = () => {};

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  sent(bytes: number): void {
    this.#bytes += bytes;
  }

  taken(bytes: number): void {
    this.#bytes -= bytes;
    if (this.#bytes >= this.#bytesMax) return;
    this.#opened = undefined;
    this.#open();
  }

  /** What to wait for, if anything. */
  pause(): Promise<void> | undefined {
    if (this.#bytes < this.#bytesMax) return undefined;
    this.#opened ??= new Promise((resolve) => {
      this.#open = resolve;
    });
    return this.#opened;
  }
}
