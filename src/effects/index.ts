export {
  type Effect,
  type EffectContext,
  type EffectKind,
  type EffectMiddleware,
  type EffectOptions,
  fail,
  LlmEffect,
  ToolEffect,
} from "./effect.js";
export { EffectRuntime } from "./effect-runtime.js";
export type { EffectExecutor, Invocation, Outcome } from "./executor.js";
export { InlineExecutor } from "./inline-executor.js";
