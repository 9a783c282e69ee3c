// defineConfig: composition. Everything it does can be done by hand with the parts it puts together.

import { Admission, flowsOf, Observer } from "../actors/index.js";
import type { SkillRegistry } from "../agent/index.js";
import {
  configuredClaimCheck,
  type EffectRuntime,
  FlowPolicies,
  type KillSwitch,
  type RingParts,
  ring,
} from "../effects/index.js";
import type {
  AgentDefinition,
  Clock,
  ContentStore,
  EventStore,
  SnapshotStore,
  ToolDefinition,
} from "../kernel/index.js";
import { ProjectionRuntime } from "../surface/index.js";
import { PooledEffects, readThreadOptions, type ThreadPartitions } from "../workers/index.js";
import { checkConfig, type LoomConfig } from "./config.js";
import { readDefinitions } from "./definitions.js";
import { type Envelope, openEnvelope } from "./envelope.js";
import { partitionThreads } from "./partition-threads.js";
import { AppEffects, keepsReasoning, reasoningDefaults } from "./reasoning.js";
import { WorkflowRuntime } from "./runtime.js";
import { redactorOf, vaultOf } from "./secrets.js";
import { openStores } from "./storage.js";
import { UnreachableEffects } from "./unreachable-effects.js";
import { type AppWorkers, appWorkers } from "./workers.js";

export interface LoomApp {
  readonly runtime: WorkflowRuntime;
  readonly effectRuntime: EffectRuntime;
  readonly projectionRuntime: ProjectionRuntime;
  readonly stores: {
    readonly eventStore: EventStore;
    readonly snapshotStore: SnapshotStore;
    /** Large results, and whatever else is put there. Written by whoever owns the log, read by anyone. */
    readonly contentStore: ContentStore;
  };
  /** `agents`, and what `agentModules` export. */
  readonly agents: readonly AgentDefinition[];
  /** What `toolModules` export. Metadata only: what runs is registered by `execution.registerEffects`. */
  readonly tools: readonly ToolDefinition[];
  /** `skills`, and what `skillModules` export; `app.skills.find(query)` chooses among them without a model. */
  readonly skills: SkillRegistry;
  /** Whether `security.strict` was asked for. */
  readonly strict: boolean;
  /** Not in this version: where checkpoints may be kept in plain text. */
  readonly security?: { readonly crypto?: { readonly allowPlaintextCheckpoints: boolean } };
  /** `execution.envelope`, if there is one. */
  readonly envelope?: Envelope;
  /** `security.killSwitch`, if there is one. */
  readonly killSwitch?: KillSwitch;
  /** The threads of `workers`. */
  readonly workers: AppWorkers;
  /** Opens the log and recovers what was running. Automatic unless `autostart: false`; safe to call again. */
  start(): Promise<void>;
  /** Ends the app: steps in flight get `deadlineMs` (default 5,000), the log is closed. Safe to call again. */
  close(options?: { deadlineMs?: number }): Promise<void>;
}

/** Builds an app from its options, and opens its log unless `autostart` is false. */
export function defineConfig(config: LoomConfig): LoomApp {
  return composeApp(config);
}

/** The same with a clock of the caller's, which timers obey too: for tests, whose time is theirs to move. */
export function composeApp(config: LoomConfig, clock?: Clock): LoomApp {
  checkConfig(config);
  const { storage, flows = [], flowModules = [], autostart = true } = config;
  const { security = {}, observability = {}, durability = {}, execution = {}, workers } = config;
  const { registerEffects, effectMiddleware = [], claimCheck } = execution;
  const now = clock ? () => clock.now() : (execution.now ?? Date.now);
  const observer = new Observer(observability);
  const threads = readThreadOptions(workers);
  const stores = openStores(storage, {
    now,
    warn: (message) => observer.warn(message),
    threads: threads?.count,
    citesContent: claimCheck !== undefined || keepsReasoning(observability.reasoning),
  });
  const allFlows = [...flows, ...flowModules.flatMap(flowsOf)];
  const { authorizer, policies, killSwitch, secrets, sealingKey } = security;
  const envelope = openEnvelope(execution.envelope, now);
  const budgeting = envelope && { ledger: envelope.ledger, now };
  const flowPolicies = new FlowPolicies(allFlows);
  const parts: RingParts = {
    killSwitch,
    authorizer,
    policies,
    flowPolicies,
    budgeting,
    middleware: effectMiddleware,
    claimCheck: claimCheck && configuredClaimCheck(claimCheck, () => stores.contentStore),
    secrets: redactorOf(secrets, now),
  };
  const effectRuntime = threads
    ? new UnreachableEffects()
    : new AppEffects(ring(parts), reasoningDefaults(observability.reasoning, stores.contentStore));
  registerEffects?.(effectRuntime);
  if (effectRuntime instanceof AppEffects) effectRuntime.warnOfDropped((message) => observer.warn(message));
  const toThreads =
    threads && partitionThreads(config, threads, stores.eventStore, observer, envelope?.ledger);
  const admission = new Admission(execution);
  const pooled = threads || !workers?.effects ? undefined : new PooledEffects(effectRuntime, workers.effects);
  let threadHost: ThreadPartitions | undefined;
  const runtime = new WorkflowRuntime({
    ...stores,
    ...observability,
    effectRuntime,
    now,
    clock,
    snapshotEvery: durability.snapshotEvery,
    validateInput: execution.validateInput,
    maxResident: execution.maxResident,
    maxValueBytes: execution.maxValueBytes,
    vault: vaultOf(sealingKey),
    admission,
    ledger: envelope?.ledger,
    executionAuthorizer: security.executionAuthorizer,
    resumeAuthenticator: security.resumeAuthenticator,
    onExecutionDenied: security.onExecutionDenied,
    onFlow: (definition) => {
      // A ring without authority costs nothing, so it is closed when the first policy comes.
      if (flowPolicies.add(definition)) effectRuntime.surround(ring(parts));
    },
    effects: pooled,
    partitionHost: toThreads && ((registry) => (threadHost = toThreads(registry))),
  });
  for (const flow of allFlows) runtime.registerFlow(flow.definition, flow.runner);
  const { surfaceIds, ...definitions } = readDefinitions(config);
  const app: LoomApp = {
    runtime,
    effectRuntime,
    projectionRuntime: new ProjectionRuntime(stores.eventStore, surfaceIds),
    stores,
    ...definitions,
    strict: security.strict ?? false,
    ...(envelope && { envelope }),
    ...(killSwitch && { killSwitch }),
    workers: appWorkers({
      load: () => runtime.load,
      admission,
      pooled,
      hasPool: workers?.effects !== undefined,
      threads: () => threadHost,
    }),
    start: () => runtime.open(),
    close: (options) => runtime.close(options),
  };
  if (autostart) void app.start();
  return app;
}
