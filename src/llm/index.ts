/// <reference types="node" preserve="true" />

// Models: one vocabulary for conversations, and the providers that speak it.

export { aiSdkProvider } from "./ai-sdk/ai-sdk-provider.js";
export type { AiSdkModel } from "./ai-sdk/model.js";
export { AnthropicProvider } from "./anthropic/anthropic-provider.js";
export type { AnthropicProviderOptions, AnthropicThinking } from "./anthropic/options.js";
export { GeminiProvider } from "./gemini/gemini-provider.js";
export type { GeminiProviderOptions } from "./gemini/options.js";
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
export { OpenAiProvider } from "./openai/openai-provider.js";
export type { OpenAiProviderOptions } from "./openai/options.js";
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
export type { SdkProviderOptions } from "./sdk/options.js";
export { addUsage } from "./usage.js";
