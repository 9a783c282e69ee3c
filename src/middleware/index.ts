export { type RedactionMiddlewareOptions, redactionMiddleware } from "./redaction.js";
export { type RetryEvent, type RetryMiddlewareOptions, retryMiddleware } from "./retry.js";
export {
  guardedStream,
  type StreamGuard,
  type StreamTokenBudgetOptions,
  type StreamVerdict,
  streamTokenBudget,
} from "./stream-token-budget.js";
