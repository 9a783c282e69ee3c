// Deferred: a promise that is settled from outside, and that nobody has to await.

/** Rejecting it is never an unhandled rejection: a flow may await it later, a host may have lost interest (C-EMB-01). */
export class Deferred<T> {
  readonly promise: Promise<T>;
  resolve!: (value: T) => void;
  #reject!: (error: unknown) => void;

  constructor() {
    this.promise = new Promise<T>((resolve, reject) => {
      this.resolve = resolve;
      this.#reject = reject;
    });
  }

  // The handler is made only now, because few are rejected and very many are made.
  reject(error: unknown): void {
    this.promise.catch(ignore);
    this.#reject(error);
  }
}

/** The same promise, marked as one that may be left unawaited. */
export function contained<T>(promise: Promise<T>): Promise<T> {
  promise.catch(ignore);
  return promise;
}

/** Whether `value` is a promise of any make: flows and effects may bring their own. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === "function";
}

/** Tells somebody who only wants to know. What that comes to, a rejection later on among it, is nobody else's failure. */
export function tell(listener: () => unknown): void {
  try {
    const told = listener();
    if (isThenable(told)) void contained(Promise.resolve(told));
  } catch {
    // A display is no reason for what it displays to fail.
  }
}

function ignore(): void {}
