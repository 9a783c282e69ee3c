// Watchers: callers waiting for an execution to get somewhere. They wait beside the actors, not in them, so waiting
// for a parked execution keeps nothing of it in memory.

import {
  Deferred,
  type ExecutionEvent,
  type ExecutionState,
  type FiledStatus,
  fromWire,
  HeddleError,
  isTerminal,
  type SetAside,
  type Unseal,
  type Vault,
  type Wire,
} from "../kernel/index.js";

export type Awaited = "suspended" | "ended" | "settled";

/** How an execution stands, as far as it is durable. */
export interface Standing {
  readonly status: FiledStatus;
  /** Parked with something that somebody outside can resolve, a gate or a doubt: a sleep alone is not a suspension. */
  readonly atGate: boolean;
  readonly aside: SetAside | undefined;
}

// There are few, and one is asked for with every commit of every execution.
const STANDINGS: { [S in FiledStatus]?: Standing } = {};

export function standingOf(status: FiledStatus, atGate: boolean, aside: SetAside | undefined): Standing {
  if (atGate || aside) return { status, atGate, aside };
  STANDINGS[status] ??= Object.freeze({ status, atGate, aside });
  return STANDINGS[status];
}

/** `atGate` of a suspended execution, from its state alone. */
export function isAtGate({ gates, frames }: ExecutionState): boolean {
  return (
    Object.values(gates).some((gate) => gate.kind === "event" && gate.status === "open") ||
    Object.values(frames).some((frame) => frame.status === "inDoubt")
  );
}

/** What became durable, and where a watcher finds what it waited for. */
export interface News {
  readonly executionId: string;
  readonly standing: Standing;
  /** The last event, when it is at hand: an ending needs no more. */
  readonly last: ExecutionEvent | undefined;
  /** Asked once for each watcher, so that none can change what another sees. */
  readonly state: (unseal?: Unseal) => Promise<ExecutionState> | ExecutionState;
}

/** One caller's wait. */
interface Watcher {
  readonly awaited: Awaited;
  tell(news: News): void;
  reject(error: unknown): void;
}

/** Waits for a state. */
class StateWatcher extends Deferred<ExecutionState> implements Watcher {
  readonly awaited: Awaited;

  constructor(awaited: Awaited) {
    super();
    this.awaited = awaited;
  }

  tell({ executionId, standing: { status }, state }: News): void {
    if (this.awaited === "suspended" && isTerminal(status)) {
      const message = `Execution ${executionId} ended (${status}) without suspending.`;
      this.reject(new HeddleError("EXECUTION_ENDED", message, { details: { executionId, status } }));
      return;
    }
    const found = state();
    if (found instanceof Promise) found.then(this.resolve, (error: unknown) => this.reject(error));
    else this.resolve(found);
  }
}

/** Waits for the output of the flow. Most callers want no more, and for that no log has to be folded. */
class ResultWatcher extends Deferred<unknown> implements Watcher {
  readonly awaited = "ended";
  readonly #unseal: Unseal;

  /** It asks for what the flow gave, as the flow gave it; whoever reads the log sees that only as far as it may be read. */
  constructor(unseal: Unseal) {
    super();
    this.#unseal = unseal;
  }

  tell({ executionId, last, state }: News): void {
    if (last?.type === "EXECUTION_COMPLETED") this.#complete(last.output);
    else if (last?.type === "EXECUTION_FAILED") this.reject(failedError(executionId, fromWire(last.error)));
    else if (last?.type === "EXECUTION_CANCELLED") this.reject(cancelledError(executionId, last.reason));
    else void this.#tellFromState(executionId, state);
  }

  #complete(output: Wire): void {
    try {
      this.resolve(fromWire(output, this.#unseal));
    } catch (error) {
      this.reject(error);
    }
  }

  async #tellFromState(executionId: string, state: News["state"]): Promise<void> {
    try {
      const { status, variables, error, reason } = await state(this.#unseal);
      if (status === "completed") this.resolve(variables["_output"]);
      else if (status === "failed") this.reject(failedError(executionId, error));
      else this.reject(cancelledError(executionId, reason ?? "no reason given"));
    } catch (error) {
      this.reject(error);
    }
  }
}

export class Watchers {
  readonly #vault: Vault;
  readonly #waiting = new Map<string, Watcher[]>();

  constructor(vault: Vault) {
    this.#vault = vault;
  }

  awaitState(executionId: string, awaited: Awaited): Promise<ExecutionState> {
    return this.#add(executionId, new StateWatcher(awaited));
  }

  /** The output of the flow; rejects with EXECUTION_FAILED or EXECUTION_CANCELLED. */
  awaitResult(executionId: string): Promise<unknown> {
    return this.#add(executionId, new ResultWatcher(this.#vault.opener(executionId)));
  }

  #add<T>(executionId: string, watcher: Watcher & Deferred<T>): Promise<T> {
    const others = this.#waiting.get(executionId);
    if (others) others.push(watcher);
    else this.#waiting.set(executionId, [watcher]);
    return watcher.promise;
  }

  /** Whether somebody's wait is over when the execution stands so. Asked for each commit; most answers are no. */
  await(executionId: string, standing: Standing): boolean {
    const waiting = this.#waiting.get(executionId);
    return waiting !== undefined && waiting.some((watcher) => isOver(watcher.awaited, standing));
  }

  /** Tells those whose wait is over. */
  notify(news: News): void {
    const { executionId, standing } = news;
    const waiting = this.#waiting.get(executionId);
    if (!waiting) return;
    const isDone = ({ awaited }: Watcher): boolean => isOver(awaited, standing);
    const done = waiting.every(isDone) ? waiting : waiting.filter(isDone);
    if (done === waiting) this.#waiting.delete(executionId);
    else
      this.#waiting.set(
        executionId,
        waiting.filter((watcher) => !isDone(watcher)),
      );
    for (const watcher of done) {
      try {
        if (standing.aside) watcher.reject(setAsideError(executionId, standing.aside));
        else watcher.tell(news);
      } catch (error) {
        watcher.reject(error);
      }
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

function failedError(executionId: string, cause: unknown): HeddleError {
  const message = cause instanceof Error ? cause.message : String(cause);
  return new HeddleError("EXECUTION_FAILED", `Execution ${executionId} failed: ${message}`, {
    cause,
    details: { executionId },
  });
}

function cancelledError(executionId: string, reason: string): HeddleError {
  return new HeddleError("EXECUTION_CANCELLED", `Execution ${executionId} was cancelled: ${reason}`, {
    details: { executionId },
  });
}
