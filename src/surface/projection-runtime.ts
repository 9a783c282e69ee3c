// ProjectionRuntime: read models folded from the log when somebody asks, so they cost the executions nothing.
//
// Owns       a bounded number of folded surfaces, each with the sequence it has reached.
// Leaves     the events to the store; the log never depends on what is shown of it.
//
// S1  A read folds whatever has become visible since the last one: right after a wait returns, and after a restart.
// S2  Readers get their own copy; what they do to it changes nothing.

import { checkId, type EventStore, fromWire, HeddleError, toWire } from "../kernel/index.js";
import { applyPatch, type SurfaceState } from "./surface-fold.js";

interface Folded {
  readonly state: SurfaceState;
  nextSequence: number;
}

/** Folded surfaces kept; the least recently read one leaves first and is folded again when asked for. */
const FOLDED_MAX = 1_000;

export class ProjectionRuntime {
  readonly #store: EventStore;
  readonly #surfaces: ReadonlySet<string>;
  readonly #folded = new Map<string, Folded>();

  constructor(store: EventStore, surfaceIds: readonly string[]) {
    for (const id of surfaceIds) checkId("surface id", id);
    this.#store = store;
    this.#surfaces = new Set(surfaceIds);
  }

  /**
   * The state of a surface of an execution, as a fresh copy; `{}` while nothing was patched.
   *
   * @throws CONFIG_INVALID for a surface the app does not register, or a store that cannot be read synchronously.
   */
  getState<T = SurfaceState>(surfaceId: string, executionId: string): T {
    if (!this.#surfaces.has(surfaceId)) {
      const known = [...this.#surfaces].join(", ") || "none";
      throw new HeddleError(
        "CONFIG_INVALID",
        `No surface ${surfaceId} is registered (registered: ${known}). List it in defineConfig({ surfaces }).`,
      );
    }
    if (!this.#store.readSync) {
      throw new HeddleError("CONFIG_INVALID", "This event store has no readSync: getState needs one.");
    }
    const folded = this.#resident(surfaceId, executionId);
    for (const event of this.#store.readSync(executionId, { from: folded.nextSequence })) {
      applyPatch(folded.state, event, surfaceId);
      folded.nextSequence = event.sequence + 1;
    }
    return fromWire(toWire(folded.state)) as T;
  }

  #resident(surfaceId: string, executionId: string): Folded {
    const name = `${surfaceId}\n${executionId}`;
    const folded = this.#folded.get(name) ?? { state: {}, nextSequence: 0 };
    this.#folded.delete(name);
    this.#folded.set(name, folded);
    if (this.#folded.size > FOLDED_MAX) {
      const [oldest] = this.#folded.keys();
      this.#folded.delete(oldest!);
    }
    return folded;
  }
}
