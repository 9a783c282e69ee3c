export { type RetryEvent, type RetryMiddlewareOptions, retryMiddleware } from "./retry.js";
