// Messages: what a conversation with a model is made of, in one vocabulary for all providers. Plain data; it is what the log of
// an agent holds, so its shapes may grow and may not change.

import type { Tainted } from "../kernel/index.js";

/** Text, or text that must not be believed: it reaches the model inside a fence that names its origin. */
export type LlmText = string | Tainted<string>;

export interface TextPart {
  readonly type: "text";
  readonly text: LlmText;
}

/** Bytes a model is shown: encoded as base64, or where the provider can fetch them. */
export type MediaSource =
  | { readonly kind: "base64"; readonly data: string }
  | { readonly kind: "url"; readonly url: string };

export interface ImagePart {
  readonly type: "image";
  /** Such as "image/png". */
  readonly mediaType: string;
  readonly source: MediaSource;
}

export interface FilePart {
  readonly type: "file";
  /** Such as "application/pdf". */
  readonly mediaType: string;
  readonly name?: string;
  readonly source: MediaSource;
}

export type UserPart = TextPart | ImagePart | FilePart;

/** A call of a tool, as a model asked for it. */
export interface LlmToolCall {
  /** Unique in its conversation. */
  readonly id: string;
  readonly name: string;
  /** The arguments, parsed. Undefined where they could not be: see `malformed`. */
  readonly input: unknown;
  /** The arguments as the model wrote them, where they are no JSON. Kept for readers; never sent back. */
  readonly malformed?: string;
  /** What the provider wants back with the call, unread. */
  readonly signature?: string;
}

/**
 * A block of a model's reasoning as the log knows it: never its text, which lies in a content store under `reference`. A block the
 * vendor withheld has neither reference nor digest, only what the provider wants back.
 */
export interface ReasoningPart {
  readonly kind: "reasoning" | "redacted";
  /** Which provider made it; no other can read it back. */
  readonly provider: string;
  /** What the provider wants back with the block, unread. */
  readonly signature?: string;
  readonly reference?: string;
  /** SHA-256 of the text, in hexadecimal digits. */
  readonly digest?: string;
  /** There was a text, and it may not be kept anywhere. */
  readonly unstored?: true;
  /** Tells apart the menus of tools that models were shown: under another one the block cannot be sent back. */
  readonly menu?: string;
  /** Which of several routes to models made it, where there are several. No other can read it back. */
  readonly route?: string;
  /** How much of the message's text, in UTF-16 units, and how many of its calls come before the block, where any do. */
  readonly after?: { readonly chars: number; readonly calls: number };
}

/** A reasoning block on its way between a provider and the effect that calls it. */
export interface ReasoningBlock {
  readonly kind: "reasoning" | "redacted";
  readonly provider: string;
  readonly text?: string;
  readonly signature?: string;
  /** How much of the message's text, in UTF-16 units, and how many of its calls come before the block, where any do. */
  readonly after?: { readonly chars: number; readonly calls: number };
}

export interface UserMessage {
  readonly role: "user";
  readonly content: LlmText | readonly UserPart[];
}

export interface AssistantMessage {
  readonly role: "assistant";
  readonly content: string;
  readonly toolCalls?: readonly LlmToolCall[];
  /** In the order in which the provider gave them. In a log they are parts; on the way to a provider, blocks. */
  readonly reasoning?: readonly (ReasoningPart | ReasoningBlock)[];
  /** The model was stopped while it wrote this. */
  readonly interrupted?: true;
}

/** What came of one call. Every call of an assistant message is answered by exactly one, in the order of the calls. */
export interface ToolMessage {
  readonly role: "tool";
  readonly toolCallId: string;
  readonly toolName: string;
  readonly content: LlmText | readonly UserPart[];
  readonly isError?: true;
}

export type LlmMessage = UserMessage | AssistantMessage | ToolMessage;

/** A tool as a model is told of it. */
export interface LlmToolSpec {
  readonly name: string;
  readonly description: string;
  /** A JSON schema of an object. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
}
