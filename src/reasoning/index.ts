/// <reference types="node" preserve="true" />

// Reasoning: which of several models is asked, and when a stronger one.

export {
  type ConfidenceSignal,
  constantConfidence,
  stopReasonConfidence,
  validatorConfidence,
} from "./confidence.js";
export { type ReasoningRoutesOptions, registerReasoningRoutes } from "./reasoning-routes.js";
export {
  type ReasoningResult,
  ReasoningRuntime,
  type ReasoningRuntimeOptions,
  type ReasonOptions,
  type TraceEntry,
} from "./reasoning-runtime.js";
export { type ReasoningRequest, type ReasoningRoute, type ReasoningRouter, tagRouter } from "./route.js";
