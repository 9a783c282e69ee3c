// What the guard lets through: a request as providers see it, in which every text is text.

import type { AssistantMessage, FilePart, ImagePart, ToolMessage, UserMessage } from "../message.js";
import type { LlmRequest } from "../provider.js";

export interface GuardedText {
  readonly type: "text";
  readonly text: string;
}

export type GuardedPart = GuardedText | ImagePart | FilePart;

export interface GuardedUserMessage extends UserMessage {
  readonly content: string | readonly GuardedPart[];
}

export interface GuardedToolMessage extends ToolMessage {
  readonly content: string | readonly GuardedPart[];
}

export type GuardedMessage = GuardedUserMessage | AssistantMessage | GuardedToolMessage;

export interface GuardedRequest extends LlmRequest {
  readonly messages: readonly GuardedMessage[];
}
