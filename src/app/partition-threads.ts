// Partition threads for an app: what of its configuration they are told.

import { DEFAULT_MAX_RESIDENT, type FlowRegistry, type Observer } from "../actors/index.js";
import type { Ledger } from "../effects/index.js";
import { type EventStore, HeddleError, LmdbEventStore, VALUE_LIMITS } from "../kernel/index.js";
import { type ThreadOptions, ThreadPartitions } from "../workers/index.js";
import { systemClock } from "./clock.js";
import type { LoomConfig } from "./config.js";
import { sealingKeysOf } from "./secrets.js";
import { CREATED_BY } from "./storage.js";

export function partitionThreads(
  config: LoomConfig,
  threads: ThreadOptions,
  eventStore: EventStore,
  observer: Observer,
  ledger: Ledger | undefined,
): (registry: FlowRegistry) => ThreadPartitions {
  const { storage, security, observability = {}, durability = {}, execution = {}, workers } = config;
  if (storage.kind !== "lmdb" || !(eventStore instanceof LmdbEventStore))
    throw new HeddleError("INVARIANT_BROKEN", "Partition threads were asked for over another log than LMDB.");
  const { dir, sync } = storage;
  const { maxResident = DEFAULT_MAX_RESIDENT, maxValueBytes = VALUE_LIMITS.bytesMax } = execution;
  const { admission, maxInFlight, maxWaitingBytes } = execution;
  return (registry) =>
    new ThreadPartitions({
      threads,
      eventStore,
      storage: { dir, sync, createdBy: CREATED_BY },
      registry,
      observer,
      hooks: {
        onEvent: observability.onEvent !== undefined,
        onDurableEvent: observability.onDurableEvent !== undefined,
      },
      clock: systemClock(),
      limits: { ...VALUE_LIMITS, bytesMax: maxValueBytes },
      sealingKeys: sealingKeysOf(security?.sealingKey),
      snapshotEvery: durability.snapshotEvery,
      maxResident,
      admission: { admission, maxInFlight, maxWaitingBytes },
      ledger,
      killSwitch: security?.killSwitch,
      strict: security?.strict ?? false,
      effects: workers?.effects,
    });
}
