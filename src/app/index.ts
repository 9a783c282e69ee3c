export { type LoomApp, defineConfig } from "./define-config.js";
export type { DurabilityConfig, ExecutionConfig, LoomConfig, ObservabilityConfig, SecurityConfig, SurfaceConfig } from "./config.js";
export { WorkflowRuntime, type WorkflowRuntimeOptions } from "./runtime.js";
export { type BranchRegistry, lmdbStorage, type LmdbStorage, type StorageConfig } from "./storage.js";
export { HEDDLE_VERSION } from "./version.js";
