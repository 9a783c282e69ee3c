// Load: keeps a number of calls in flight, and counts what comes of them.
//
// L1  Each call that ends makes the next one, so that the number in flight is that of the setting until the budget is spent.
// L2  Only what ends by then is counted: after that fewer calls share the threads, and each looks faster than it is. The
//     rate ends with the last call counted, because effects of equal length end in waves.
// L3  A budget of time is stretched until as many calls have ended as are in flight, or an effect slower than the budget
//     would not be measured at all.
// L4  When most calls fail the budget counts as spent: a service that refuses is not to be asked ten thousand times more.

import type { Budget } from "./plan.js";

export interface LoadOptions {
  readonly inFlight: number;
  readonly budget: Budget;
  readonly call: () => Promise<unknown>;
  /** Ends the load at once; it has no result then. */
  readonly signal: AbortSignal;
  /** Called when what is counted is complete, before the last calls end. */
  readonly onCounted?: () => void;
}

export interface LoadCount {
  readonly completed: number;
  readonly failed: number;
  readonly failure: unknown;
  /** Of the calls that completed, in the order they did. */
  readonly latenciesMs: readonly number[];
  /** From the first call made to the last one counted. */
  readonly elapsedMs: number;
}

const ENDED_MIN = 3;
const FAILED_MAX = 30;

/** Resolves when no call is in flight any more; with undefined when the signal ended it. */
export function applyLoad(options: LoadOptions): Promise<LoadCount | undefined> {
  const { inFlight, budget, call, signal, onCounted } = options;
  const latenciesMs: number[] = [];
  const startedAt = performance.now();
  let made = 0;
  let failed = 0;
  let failure: unknown;
  let lastAt = startedAt;
  let counted: LoadCount | undefined;
  const count = (): LoadCount => ({
    completed: latenciesMs.length,
    failed,
    failure,
    latenciesMs: [...latenciesMs],
    elapsedMs: lastAt - startedAt,
  });

  const isSpent = (): boolean => {
    if (failed >= FAILED_MAX && failed > latenciesMs.length) return true; // L4
    if (budget.kind === "calls") return made >= budget.calls;
    const ended = latenciesMs.length + failed;
    return performance.now() - startedAt >= budget.ms && ended >= Math.max(inFlight, ENDED_MIN); // L3
  };

  return new Promise((resolve) => {
    let running = 0;
    const stop = (): void => resolve(undefined);
    const finish = (): void => {
      signal.removeEventListener("abort", stop);
      resolve(counted ?? count());
    };
    const next = (): void => {
      if (signal.aborted) return;
      const isOver = isSpent();
      // A budget of fewer calls than are in flight is spent before any has ended: then all of them count.
      if (isOver && !counted && latenciesMs.length + failed > 0) {
        counted = count(); // L2
        onCounted?.();
      }
      if (!isOver) make();
      else if (running === 0) finish();
    };
    const make = (): void => {
      const madeAt = performance.now();
      made += 1;
      running += 1;
      const ended = (note: () => void): void => {
        running -= 1;
        lastAt = performance.now();
        note();
        next();
      };
      call().then(
        () => ended(() => latenciesMs.push(lastAt - madeAt)),
        (error: unknown) => {
          ended(() => {
            failure ??= error;
            failed += 1;
          });
        },
      );
    };
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    for (let n = 0; n < inFlight; n++) next(); // L1
  });
}
