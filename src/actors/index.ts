export { type CloseOptions, type RuntimeOptions, type StartOptions, ExecutionRuntime } from "./runtime.js";
export type { ExecutionHandle } from "./handle.js";
export type { ResumeRequest } from "./messages.js";
export { Observer, type ObserverHooks } from "./observer.js";
