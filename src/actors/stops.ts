// Stops: the signals that tasks of open steps were given, heard by their actor. A step that waits for its next attempt, or for
// room, would otherwise hear of it when that comes.

import type { OpenStep } from "../kernel/index.js";

export class Stops {
  readonly #unwatch = new Map<string, () => void>();

  /** Calls `stopped` once when the step is told to stop, or at once when it was before. */
  watch({ stepId, task: { signal } }: OpenStep, stopped: () => void): void {
    if (!signal || this.#unwatch.has(stepId)) return;
    if (signal.aborted) return stopped();
    signal.addEventListener("abort", stopped, { once: true });
    this.#unwatch.set(stepId, () => signal.removeEventListener("abort", stopped));
  }

  unwatch(stepId: string): void {
    this.#unwatch.get(stepId)?.();
    this.#unwatch.delete(stepId);
  }

  clear(): void {
    for (const unwatch of this.#unwatch.values()) unwatch();
    this.#unwatch.clear();
  }
}
