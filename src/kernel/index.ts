export { Abortable } from "./abortable.js";
export { type AgentDefinition, type AgentOptions, agent$, isAgentDefinition } from "./agent.js";
export { BACKOFF, BACKOFF_OPTIONS, backoffDelay, checkRetryOptions } from "./backoff.js";
export type { ContentSource } from "./chunks.js";
export { afterLong, type Clock } from "./clock.js";
export {
  failureToWire,
  fromWire,
  Special,
  sameWire,
  toWire,
  type Unseal,
  VALUE_LIMITS,
  type ValueLimits,
  type Wire,
  wireBytes,
} from "./codec/index.js";
export {
  type CheckedBranch,
  type DecideOptions,
  type DecideScope,
  type ExecutionContext,
  type ParallelBranch,
  type ParallelOptions,
  type ParallelResults,
  type SurfaceEmitter,
  type SuspendOptions,
  surface,
  type WorkflowContext,
} from "./context.js";
export { contained, Deferred, isThenable, tell } from "./deferred.js";
export { envelopesOf } from "./envelope.js";
export {
  EffectModeViolationError,
  ERROR_CODES,
  HeddleError,
  type HeddleErrorCode,
  type HeddleErrorOptions,
  hasCode,
  invalidOption,
  invariant,
  OverloadedError,
  PartitionLockedError,
  ResumePayloadValidationError,
  TypedFailure,
  type ValidationIssue,
} from "./errors.js";
export {
  type EventEnvelope,
  type EventOf,
  type ExecutionEvent,
  isEnding,
  type PatchOperation,
  RESERVED_EVENT_NAMES,
  type TaskKind,
  usedIn,
} from "./events.js";
export { appended } from "./exact-list.js";
export { CURRENT_FLAGS } from "./flags.js";
export {
  defineFlow,
  type FlowDefinition,
  type FlowModule,
  type FlowOptions,
  type FlowRunner,
  flow$,
  type ListedStep,
  type RegisteredFlow,
} from "./flow.js";
export { FlowContext } from "./flow-context.js";
export { type Entropy, FlowRun, type FlowRunHost, type RunPhase } from "./flow-run.js";
export { fold } from "./fold.js";
export {
  checkId,
  createIdSource,
  type FillRandom,
  ID_BYTES_MAX,
  idempotencyKeyOf,
  partitionOf,
} from "./ids.js";
export type { IssuedSteps, OpenStep } from "./issued-steps.js";
export { LeanMap } from "./lean-map.js";
export type { Meter, MeterRow, Totals, Used } from "./meter.js";
export { checkOptionGroup, refuseStrangers } from "./option-group.js";
export { checkCount, checkFlag, checkFunction } from "./option-value.js";
export { checkPolicies, type Grant, type PolicyDefinition, policy$ } from "./policy.js";
export type { OutcomeEvent } from "./recording.js";
export { checkEventName, checkUsage } from "./request.js";
export { describeIssues, issuesOf, parseOutput, parseSync, parseWith, type Schema } from "./schema.js";
export {
  hasMarks,
  hidePayload,
  internal,
  isSecretText,
  KEY_BYTES,
  NO_VAULT,
  ONLY_KEY,
  type SealingKeyRing,
  type Secrecy,
  type SecretRef,
  SecretTexts,
  secrecyOf,
  secretRef,
  sensitive,
  Vault,
} from "./secrets/index.js";
export { type Instructions, isSkillDefinition, type SkillDefinition, skill$ } from "./skill.js";
export {
  type ExecutionState,
  type FoldedFrame,
  type FoldedState,
  type Frame,
  type FrameStatus,
  type Gate,
  type GateStatus,
  initialState,
  type LateAttempt,
  revealState,
} from "./state.js";
export { type ExecutionStatus, type FiledStatus, isTerminal } from "./status.js";
export type {
  CommitBatch,
  ContentReferences,
  ContentStore,
  ContentSweep,
  EventStore,
  ExecutionCommit,
  ExecutionHeader,
  Following,
  FollowOptions,
  ListFilter,
  LogRecord,
  PartitionLog,
  PutOptions,
  ReadRange,
  SetAside,
  Snapshot,
  SnapshotStore,
  StoredContent,
  SubscribeOptions,
  SweptContent,
  TimerRow,
} from "./store/index.js";
export {
  contentMissing,
  followEvents,
  LmdbEventStore,
  MemoryContentStore,
  MemoryEventStore,
  MemorySnapshotStore,
  sweepUnpinnedContent,
} from "./store/index.js";
export {
  hasTainted,
  isTainted,
  type Tainted,
  tainted,
  taintOrigin,
  unwrapTainted,
} from "./taint.js";
export {
  checkDuration,
  type ExecutableTask,
  type FailureChannels,
  type Handler,
  handler$,
  type RetryPolicy,
  type StepDefinition,
  type StepHandlerContext,
  type StepOptions,
  step$,
  type ToolMode,
  type UsageReport,
} from "./task.js";
export { checkTerms } from "./terms.js";
export { isToolDefinition, type ToolDefinition, type ToolOptions, type ToolOrigin, tool$ } from "./tool.js";
export type { Decider, WantedDecision } from "./wanted-decisions.js";
export { wordsOf } from "./words.js";
