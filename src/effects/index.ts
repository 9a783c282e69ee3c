export {
  type Effect,
  type EffectContext,
  type EffectKind,
  type EffectMiddleware,
  type EffectOptions,
  fail,
  isRemote,
  LlmEffect,
  type Placement,
  type RemoteEffect,
  ToolEffect,
} from "./effect.js";
export { EffectRuntime } from "./effect-runtime.js";
export type { EffectExecutor, Elsewhere, Invocation, Outcome } from "./executor.js";
export { FairQueue, type Place } from "./fair-queue.js";
export { InlineExecutor } from "./inline-executor.js";
export { keepRetryHint, type RetryHint, retryHintOf } from "./retry-hint.js";
export { RetryLater } from "./retry-later.js";
