export { Admission, type AdmissionOptions } from "./admission.js";
export type { Footprints } from "./caution.js";
export type {
  ExecutionAction,
  ExecutionAuthorityOptions,
  ExecutionAuthorizer,
  ExecutionAuthzRequest,
  ExecutionVerdict,
  OnExecutionDenied,
  ResumeAuthenticator,
  ResumeAuthnRequest,
} from "./execution-authority.js";
export type { CallerOptions, CancelOptions, ResumeOptions, StartOptions } from "./execution-doors.js";
export { FlowRegistry, flowsOf, isRegisteredFlow } from "./flow-registry.js";
export type { ExecutionHandle } from "./handle.js";
export { type InDoubtVerdict, readVerdict } from "./in-doubt.js";
export type { StartRequest } from "./intake.js";
export { LocalPartitions, type OutsideEffects } from "./local-partitions.js";
export type { Reply, ResumeRequest, Verdict } from "./messages.js";
export { Observer, type ObserverHooks, type Written } from "./observer.js";
export type { PartitionLoad } from "./partition.js";
export type { Command, PartitionDoor, PartitionHost } from "./partition-host.js";
export { closedError, unknownExecution } from "./refusals.js";
export {
  type CloseOptions,
  DEFAULT_MAX_RESIDENT,
  ExecutionRuntime,
  type RuntimeOptions,
} from "./runtime.js";
export type { RuntimeView } from "./runtime-view.js";
export { StateReader } from "./state-reader.js";
export { verdictCommit } from "./verdict-commit.js";
export type { Awaited } from "./watchers.js";
