// defineConfig: composition. Everything it does can be done by hand with the parts it puts together.

import { Observer } from "../actors/index.js";
import { EffectRuntime } from "../effects/index.js";
import type { EventStore, FlowModule, RegisteredFlow, SnapshotStore } from "../kernel/index.js";
import { ProjectionRuntime } from "../surface/index.js";
import { checkConfig, isRegisteredFlow, type LoomConfig } from "./config.js";
import { WorkflowRuntime } from "./runtime.js";
import { openStores } from "./storage.js";

export interface LoomApp {
  readonly runtime: WorkflowRuntime;
  readonly effectRuntime: EffectRuntime;
  readonly projectionRuntime: ProjectionRuntime;
  readonly stores: { readonly eventStore: EventStore; readonly snapshotStore: SnapshotStore };
  /** Opens the log and recovers what was running. Automatic unless `autostart: false`; safe to call again. */
  start(): Promise<void>;
  /** Ends the app: steps in flight get `deadlineMs` (default 5,000), the log is closed. Safe to call again. */
  close(options?: { deadlineMs?: number }): Promise<void>;
}

/** Builds an app from its options, and opens its log unless `autostart` is false. */
export function defineConfig(config: LoomConfig): LoomApp {
  checkConfig(config);
  const { storage, flows = [], flowModules = [], surfaces = [], autostart = true } = config;
  const { observability = {}, durability = {}, execution = {} } = config;
  const { registerEffects, effectMiddleware = [], now = Date.now } = execution;
  const observer = new Observer(observability);
  const stores = openStores(storage, now, (message) => observer.warn(message));
  const effectRuntime = new EffectRuntime(effectMiddleware);
  registerEffects?.(effectRuntime);
  const runtime = new WorkflowRuntime({
    ...stores,
    ...observability,
    effectRuntime,
    now,
    snapshotEvery: durability.snapshotEvery,
    validateInput: execution.validateInput,
    maxResident: execution.maxResident,
    maxValueBytes: execution.maxValueBytes,
  });
  for (const flow of [...flows, ...flowModules.flatMap(flowsOf)])
    runtime.registerFlow(flow.definition, flow.runner);
  const surfaceIds = surfaces.map((surface) => (typeof surface === "string" ? surface : surface.id));
  const app: LoomApp = {
    runtime,
    effectRuntime,
    projectionRuntime: new ProjectionRuntime(stores.eventStore, surfaceIds),
    stores,
    start: () => runtime.open(),
    close: (options) => runtime.close(options),
  };
  if (autostart) void app.start();
  return app;
}

function flowsOf(module: FlowModule): RegisteredFlow[] {
  return Object.values(module).filter(isRegisteredFlow);
}
