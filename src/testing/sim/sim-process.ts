// SimProcess: one process on the simulated machine: the real runtime, partitions and executor, between a simulated log and
// simulated workers. It ends with its lane; nothing is told to anybody then.

import { ExecutionRuntime, Observer as Hooks, LocalPartitions } from "../../actors/index.js";
import { EffectRuntime, type Invocation } from "../../effects/index.js";
import {
  type Entropy,
  type FillRandom,
  type RegisteredFlow,
  type SnapshotStore,
  VALUE_LIMITS,
} from "../../kernel/index.js";
import type { SimDisk } from "./disk.js";
import type { Faults } from "./faults.js";
import type { Observer } from "./observation.js";
import type { SimRandom } from "./random.js";
import type { Lane, Scheduler } from "./scheduler.js";
import { SimExecutor } from "./sim-executor.js";
import { SimStore, type Tamper } from "./sim-store.js";

/** What a process is made of, but for what is its own. */
export interface ProcessParts {
  readonly disk: SimDisk;
  readonly snapshots: SnapshotStore;
  readonly scheduler: Scheduler;
  readonly random: SimRandom;
  readonly machine: Lane;
  readonly faults: () => Faults;
  readonly observer: Observer;
  readonly flows: readonly RegisteredFlow[];
  readonly registerEffects: (effects: EffectRuntime) => void;
  readonly shown: (invocation: Invocation) => Invocation;
  readonly tamper?: Tamper | undefined;
}

const MANY = 10_000;

export class SimProcess {
  readonly lane: Lane;
  readonly runtime: ExecutionRuntime;
  readonly #scheduler: Scheduler;

  /** @param generation which process it is, counted from 1 */
  constructor(generation: number, parts: ProcessParts) {
    const name = `process-${generation}`;
    const { disk, scheduler, random, faults, observer } = parts;
    this.#scheduler = scheduler;
    this.lane = scheduler.lane(name);
    const process = this.lane;
    const store = new SimStore({ ...parts, process, generation });
    const effects = new EffectRuntime();
    parts.registerEffects(effects);
    const common = {
      eventStore: store,
      snapshotStore: parts.snapshots,
      effectRuntime: effects,
      clock: scheduler.clockOf(process),
      entropy: entropyOf(random),
      limits: VALUE_LIMITS,
      snapshotEvery: random.pick([undefined, 3, 20]),
      maxResident: random.chance(faults().passivation) ? random.pick([0, 0, 1, 2]) : MANY,
    };
    const hooks = {
      onDurableEvent: ({
        executionId,
        sequence,
        type,
      }: {
        executionId: string;
        sequence: number;
        type: string;
      }) => observer.see({ kind: "told", process: name, executionId, sequence, type }),
      onWarn: (message: string) => observer.see({ kind: "warned", process: name, message }),
    };
    this.runtime = new ExecutionRuntime({
      ...common,
      ...hooks,
      fillRandom: fillFrom(random),
      partitionHost: (registry) =>
        new LocalPartitions({
          ...common,
          registry,
          observer: new Hooks(hooks),
          around: (inner) => {
            const executor = new SimExecutor({
              ...parts,
              inner,
              process,
              isFenced: (executionId) => disk.isFenced(name, executionId),
            });
            return parts.tamper?.executor?.(executor) ?? executor;
          },
        }),
    });
    for (const { definition, runner } of parts.flows) this.runtime.registerFlow(definition, runner);
    void this.runtime.open();
  }

  get name(): string {
    return this.lane.name;
  }

  get isAlive(): boolean {
    return this.lane.state !== "ended";
  }

  /** Ends it without warning. */
  kill(): void {
    this.#scheduler.end(this.lane);
  }
}

function entropyOf(random: SimRandom): Entropy {
  const bytes = fillFrom(random);
  const uuid = (): string => {
    const hex = Buffer.from(bytes(new Uint8Array(16))).toString("hex");
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
  };
  return { random: () => random.next(), uuid };
}

function fillFrom(random: SimRandom): FillRandom {
  return (bytes) => {
    for (let i = 0; i < bytes.length; i++) bytes[i] = random.below(256);
    return bytes;
  };
}
