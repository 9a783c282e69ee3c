// Watchers: callers waiting for an execution to get somewhere. They wait beside the actors, not in them, so waiting
// for a parked execution keeps nothing of it in memory.

import {
  Deferred,
  type ExecutionState,
  type FiledStatus,
  HeddleError,
  isTerminal,
  type SetAside,
} from "../kernel/index.js";

export type Awaited = "suspended" | "ended" | "settled";

/** How an execution stands, as far as it is durable. */
export interface Standing {
  readonly status: FiledStatus;
  /** Parked with at least one gate open that somebody outside can resolve: a sleep alone is not a suspension. */
  readonly atGate: boolean;
  readonly aside: SetAside | undefined;
}

/** One caller's wait. */
class Watcher extends Deferred<ExecutionState> {
  readonly awaited: Awaited;

  constructor(awaited: Awaited) {
    super();
    this.awaited = awaited;
  }
}

type StateSource = () => Promise<ExecutionState> | ExecutionState;

export class Watchers {
  readonly #waiting = new Map<string, Watcher[]>();

  add(executionId: string, awaited: Awaited): Promise<ExecutionState> {
    const watcher = new Watcher(awaited);
    const others = this.#waiting.get(executionId);
    if (others) others.push(watcher);
    else this.#waiting.set(executionId, [watcher]);
    return watcher.promise;
  }

  has(executionId: string): boolean {
    return this.#waiting.has(executionId);
  }

  /** Tells those whose wait is over. `state` is asked once for each, so that none can change what another sees. */
  notify(executionId: string, standing: Standing, state: StateSource): void {
    const waiting = this.#waiting.get(executionId);
    if (!waiting) return;
    const rest = waiting.filter((watcher) => !isOver(watcher.awaited, standing));
    if (rest.length === waiting.length) return;
    if (rest.length === 0) this.#waiting.delete(executionId);
    else this.#waiting.set(executionId, rest);
    for (const watcher of waiting) {
      if (!rest.includes(watcher)) tell(watcher, executionId, standing, state);
    }
  }

  rejectAll(error: unknown): void {
    const all = [...this.#waiting.values()].flat();
    this.#waiting.clear();
    for (const watcher of all) watcher.reject(error);
  }

  reject(executionId: string, error: unknown): void {
    const waiting = this.#waiting.get(executionId) ?? [];
    this.#waiting.delete(executionId);
    for (const watcher of waiting) watcher.reject(error);
  }
}

function tell(watcher: Watcher, executionId: string, { status, aside }: Standing, state: StateSource): void {
  if (aside) return watcher.reject(setAsideError(executionId, aside));
  if (watcher.awaited === "suspended" && isTerminal(status)) {
    const message = `Execution ${executionId} ended (${status}) without suspending.`;
    return watcher.reject(new HeddleError("EXECUTION_ENDED", message, { details: { executionId, status } }));
  }
  try {
    const found = state();
    if (found instanceof Promise) found.then(watcher.resolve, (error: unknown) => watcher.reject(error));
    else watcher.resolve(found);
  } catch (error) {
    watcher.reject(error);
  }
}

function isOver(awaited: Awaited, standing: Standing): boolean {
  if (standing.aside || isTerminal(standing.status)) return true;
  return awaited !== "ended" && standing.status === "suspended" && standing.atGate;
}

export function setAsideError(executionId: string, aside: SetAside): HeddleError {
  return new HeddleError(
    "EXECUTION_SET_ASIDE",
    `Execution ${executionId} is set aside (${aside.code}). ${aside.message}`,
    {
      details: { executionId, reason: aside.code },
    },
  );
}
