export type { ExecutionHandle } from "./handle.js";
export type { ResumeRequest } from "./messages.js";
export { Observer, type ObserverHooks } from "./observer.js";
export { type CloseOptions, ExecutionRuntime, type RuntimeOptions, type StartOptions } from "./runtime.js";
