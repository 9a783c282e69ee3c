// The public surface of heddle, grouped as a reader meets it.

// Composing an app
export {
  type BranchRegistry,
  defineConfig,
  type DurabilityConfig,
  type ExecutionConfig,
  HEDDLE_VERSION,
  type LmdbStorage,
  type LoomApp,
  type LoomApp as HeddleApp,
  type LoomConfig,
  type LoomConfig as HeddleConfig,
  lmdbStorage,
  type ObservabilityConfig,
  type SecurityConfig,
  type StorageConfig,
  type SurfaceConfig,
  WorkflowRuntime,
  type WorkflowRuntimeOptions,
} from "./app/index.js";
export type { CloseOptions, ExecutionHandle, ResumeRequest, StartOptions } from "./actors/index.js";

// Writing flows
export {
  type CheckedBranch,
  type DecideOptions,
  type DecideScope,
  defineFlow,
  type ExecutableTask,
  type ExecutionContext,
  type FailureChannels,
  type FlowDefinition,
  type FlowModule,
  type FlowOptions,
  type FlowRunner,
  flow$,
  type Handler,
  handler$,
  type ListedStep,
  type ParallelBranch,
  type ParallelOptions,
  type ParallelResults,
  type RegisteredFlow,
  type RetryPolicy,
  type Schema,
  type StepDefinition,
  type StepHandlerContext,
  type StepOptions,
  type SurfaceEmitter,
  type SuspendOptions,
  step$,
  type TaskKind,
  type ToolDefinition,
  type ToolMode,
  type ToolOptions,
  tool$,
  type WorkflowContext,
} from "./kernel/index.js";

// Touching the world
export {
  type Effect,
  type EffectContext,
  type EffectKind,
  type EffectMiddleware,
  type EffectOptions,
  EffectRuntime,
  fail,
  LlmEffect,
  ToolEffect,
} from "./effects/index.js";

// Reading the log
export {
  type EventEnvelope,
  type EventStore,
  type ExecutionHeader,
  type ExecutionState,
  type ExecutionStatus,
  type FiledStatus,
  type Frame,
  type Gate,
  type ListFilter,
  type ReadRange,
  type SetAside,
  type Snapshot,
  type SnapshotStore,
  type SubscribeOptions,
} from "./kernel/index.js";
export { ProjectionRuntime } from "./surface/index.js";

// Errors
export {
  ERROR_CODES,
  HeddleError,
  type HeddleErrorCode,
  hasCode,
  ID_BYTES_MAX,
  PartitionLockedError,
  ResumePayloadValidationError,
  TypedFailure,
  type ValidationIssue,
} from "./kernel/index.js";
