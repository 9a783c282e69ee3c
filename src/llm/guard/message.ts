// One message at the prompt boundary: marked text is put behind fences where a fence can stand, and refused everywhere else.

import { hasTainted, isTainted, type Tainted } from "../../kernel/index.js";
import type { LlmMessage, LlmText, UserPart } from "../message.js";
import { isDeepFrozen } from "./deep-frozen.js";
import { fence } from "./fence.js";
import type { GuardedMessage, GuardedPart } from "./guarded.js";
import { refusal } from "./refusal.js";

/** Of messages that were put behind fences and cannot change any more: what they were let through as. */
const FENCED = new WeakMap<LlmMessage, GuardedMessage>();

export interface Inspected {
  readonly message: GuardedMessage;
  /** The original cannot change: what was said of it holds for ever. */
  readonly lasting: boolean;
}

/** @throws LLM_PROMPT_INVALID */
export function inspectMessage(original: LlmMessage, place: string): Inspected {
  const known = FENCED.get(original);
  if (known) return { message: known, lasting: true };
  const message = fenced(original, place);
  if (hasTainted(message)) {
    throw refusal(
      "taintedPlace",
      place,
      "marked text stands where no fence can hold it. Only the content of user and tool messages may be tainted; unwrap what you have checked.",
    );
  }
  if (isEmpty(message)) throw refusal("emptyMessage", place, "the message says nothing.");
  const lasting = isDeepFrozen(original);
  if (lasting && message !== original) FENCED.set(original, message);
  return { message, lasting };
}

function fenced(message: LlmMessage, place: string): GuardedMessage {
  const { role } = message;
  switch (role) {
    case "assistant":
      return message;
    case "user":
    case "tool": {
      const content = fencedContent(message.content, place);
      return content === message.content
        ? (message as GuardedMessage)
        : Object.freeze({ ...message, content });
    }
    default:
      throw refusal(
        "unknownRole",
        place,
        'a message is of "user", "assistant" or "tool"; words for the system go into `system`.',
      );
  }
}

function fencedContent(
  content: LlmText | readonly UserPart[],
  place: string,
): string | readonly GuardedPart[] {
  if (typeof content === "string") return content;
  if (isTainted(content)) return fenceAt(content, place);
  if (!Array.isArray(content))
    throw refusal("emptyMessage", place, "the content is neither text nor a list of parts.");
  let changed = false;
  const parts = (content as readonly UserPart[]).map((part): GuardedPart => {
    if (part.type !== "text" || !isTainted(part.text)) return part as GuardedPart;
    changed = true;
    return Object.freeze({ ...part, text: fenceAt(part.text, place) });
  });
  return changed ? Object.freeze(parts) : (content as readonly GuardedPart[]);
}

function fenceAt(text: Tainted<string>, place: string): string {
  try {
    return fence(text);
  } catch {
    throw refusal("taintForged", place, "this is marked as tainted, but tainted() did not make it.");
  }
}

/** Whitespace alone is nothing: providers refuse it. What a tool has to say may be nothing. */
function isEmpty(message: GuardedMessage): boolean {
  if (message.role === "tool") return false;
  const { content } = message;
  if (message.role === "assistant" && (message.toolCalls?.length ?? 0) > 0) return false;
  if (typeof content === "string") return !/\S/u.test(content);
  return content.every((part) => part.type === "text" && !/\S/u.test(part.text));
}
