/// <reference types="node" preserve="true" />

// Models: one vocabulary for conversations, and the providers that speak it.

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
