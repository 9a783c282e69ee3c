export type { LoopFigures as ThreadFigures } from "../workers/loop-figures.js";
export type { WorkersConfig } from "../workers/partitions/options.js";
export type { PartitionThreadInspection, PartitionThreadStats } from "../workers/partitions/stats.js";
export type { EffectPoolOptions, PacketOptions, TuneOptions } from "../workers/pool/options.js";
export type {
  PoolInspection,
  PoolStats,
  RunningCall,
  ThreadStats,
} from "../workers/pool/report.js";
export type {
  DurabilityConfig,
  ExecutionConfig,
  LoomConfig,
  ObservabilityConfig,
  SecurityConfig,
} from "./config.js";
export { defineConfig, type LoomApp } from "./define-config.js";
export type { DefinitionModule, DefinitionsConfig, SurfaceConfig } from "./definitions.js";
export type { Envelope, EnvelopeConfig, SpawnLimits } from "./envelope.js";
export type { ReasoningConfig } from "./reasoning.js";
export { type AgentRunOutcome, type RunAgentOnceOptions, runAgentOnce } from "./run-agent-once.js";
export { WorkflowRuntime, type WorkflowRuntimeOptions } from "./runtime.js";
export type { SecretsConfig } from "./secrets.js";
export { type BranchRegistry, type LmdbStorage, lmdbStorage, type StorageConfig } from "./storage.js";
export { HEDDLE_VERSION } from "./version.js";
export type { AppWorkers, WorkersInspection, WorkersStats } from "./workers.js";
