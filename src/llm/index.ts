/// <reference types="node" preserve="true" />

// Models: one vocabulary for conversations, and the providers that speak it.

export { guardRequest } from "./guard/guard-request.js";
export type {
  GuardedMessage,
  GuardedPart,
  GuardedRequest,
  GuardedText,
  GuardedToolMessage,
  GuardedUserMessage,
} from "./guard/guarded.js";
export { LlmError, type LlmErrorCode, type LlmErrorOptions } from "./llm-error.js";
export type {
  AssistantMessage,
  FilePart,
  ImagePart,
  LlmMessage,
  LlmText,
  LlmToolCall,
  LlmToolSpec,
  MediaSource,
  ReasoningBlock,
  ReasoningPart,
  TextPart,
  ToolMessage,
  UserMessage,
  UserPart,
} from "./message.js";
export type {
  LlmCallOptions,
  LlmCapabilities,
  LlmProvider,
  LlmRequest,
  LlmResponse,
  LlmStreamEvent,
  LlmUsage,
  StopReason,
} from "./provider.js";
export type { ScriptedAnswer, ScriptedCall, ScriptedReply } from "./scripted/answer.js";
export {
  type Script,
  type ScriptedProvider,
  type ScriptedProviderOptions,
  scriptedProvider,
} from "./scripted/scripted-provider.js";
export { addUsage } from "./usage.js";
