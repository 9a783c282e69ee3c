// WorkflowRuntime: the runtime with the host's clock and randomness, for programs that wire it by hand.

import {
  type Admission,
  type ExecutionAuthorityOptions,
  ExecutionRuntime,
  type FlowRegistry,
  type ObserverHooks,
  type OutsideEffects,
  type PartitionHost,
} from "../actors/index.js";
import type { EffectRuntime, Ledger } from "../effects/index.js";
import {
  type Clock,
  type EventStore,
  type FlowDefinition,
  type SnapshotStore,
  VALUE_LIMITS,
  type Vault,
} from "../kernel/index.js";
import { fillRandom, systemClock, systemEntropy } from "./clock.js";

export interface WorkflowRuntimeOptions extends ObserverHooks, ExecutionAuthorityOptions {
  readonly eventStore: EventStore;
  readonly snapshotStore: SnapshotStore;
  readonly effectRuntime: EffectRuntime;
  readonly snapshotEvery?: number | undefined;
  readonly validateInput?: boolean | undefined;
  readonly maxResident?: number | undefined;
  readonly maxValueBytes?: number | undefined;
  /** Seals what schemas mark. Default: without a key, so that marked values are refused. */
  readonly vault?: Vault | undefined;
  readonly now?: (() => number) | undefined;
  /** Time and timers. Default: the host's, with `now` where it is given. */
  readonly clock?: Clock | undefined;
  readonly effects?: OutsideEffects | undefined;
  readonly admission?: Admission | undefined;
  readonly onFlow?: ((definition: FlowDefinition) => void) | undefined;
  readonly ledger?: Ledger | undefined;
  readonly partitionHost?: ((registry: FlowRegistry) => PartitionHost) | undefined;
}

/** Starts, resumes, cancels and watches executions. Call `open()` before anything else when you build it yourself. */
export class WorkflowRuntime extends ExecutionRuntime {
  constructor({
    now,
    clock = systemClock(now),
    maxValueBytes = VALUE_LIMITS.bytesMax,
    ...options
  }: WorkflowRuntimeOptions) {
    super({
      ...options,
      clock,
      entropy: systemEntropy,
      fillRandom,
      limits: { ...VALUE_LIMITS, bytesMax: maxValueBytes },
    });
  }
}
