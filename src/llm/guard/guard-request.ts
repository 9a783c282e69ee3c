// guardRequest: the prompt boundary. Whatever goes to a provider went through here; going through twice costs nothing.
//
// A conversation grows by a message or two between requests, so what was let through before is not looked at again: it is known by
// the identity of its messages, once those are frozen all the way down. A request with 4,000 messages costs microseconds then.
//
// G1  Only what cannot change is remembered.
// G2  A list that is remembered belongs to one line of a conversation: another that begins alike is looked at anew.

import { hasTainted } from "../../kernel/index.js";
import type { LlmMessage, LlmToolSpec } from "../message.js";
import type { LlmRequest } from "../provider.js";
import { isDeepFrozen } from "./deep-frozen.js";
import type { GuardedMessage, GuardedRequest } from "./guarded.js";
import { inspectMessage } from "./message.js";
import { Pairing } from "./pairing.js";
import { refusal } from "./refusal.js";

interface Line {
  readonly originals: LlmMessage[];
  readonly guarded: GuardedMessage[];
  readonly pairing: Pairing;
  /** Whether what it holds was let through, and cannot change. */
  isGood: boolean;
}

/** By the first message of the conversation. */
const LINES = new WeakMap<LlmMessage, Line>();
/** Lists that were let through; they are frozen. */
const GUARDED_LISTS = new WeakSet<readonly LlmMessage[]>();
const SAFE_SPECS = new WeakSet<LlmToolSpec>();

/**
 * The request as a provider may see it: tainted text in user and tool messages stands behind fences that name its origin and that
 * nothing inside can close. The same request in, the same request out.
 *
 * @throws LLM_PROMPT_INVALID for marked text anywhere else, for calls of tools and results that do not pair, and for messages
 *   that say nothing; `details.reason` says which, `details.place` where
 */
export function guardRequest(request: LlmRequest): GuardedRequest {
  const { messages, tools, ...rest } = request;
  for (const spec of tools ?? []) checkSpec(spec);
  if (hasTainted(rest)) {
    throw refusal(
      "taintedPlace",
      hasTainted(rest.system) ? "system" : "request",
      "marked text may not speak for you: put it into a user message, or unwrap it once you have checked it.",
    );
  }
  const guarded = guardMessages(messages);
  if (guarded === messages && Object.isFrozen(request)) return request as GuardedRequest;
  return Object.freeze({ ...request, messages: guarded });
}

function checkSpec(spec: LlmToolSpec): void {
  if (SAFE_SPECS.has(spec)) return;
  if (hasTainted(spec)) {
    throw refusal(
      "taintedPlace",
      "tools",
      "a tool is described by marked text. Describe it in words of your own.",
    );
  }
  if (isDeepFrozen(spec)) SAFE_SPECS.add(spec);
}

function guardMessages(messages: readonly LlmMessage[]): readonly GuardedMessage[] {
  if (GUARDED_LISTS.has(messages)) return messages as readonly GuardedMessage[];
  const first = messages[0];
  if (first === undefined) throw refusal("noMessages", "messages", "there is nothing to answer.");
  const line = continued(LINES.get(first), messages) ?? begun(first);
  line.isGood = false; // Until all of them have passed.
  let lasting = true;
  for (let index = line.originals.length; index < messages.length; index++) {
    const original = messages[index]!;
    const inspected = inspectMessage(original, `messages[${index}]`);
    line.pairing.take(original, `messages[${index}]`);
    line.originals.push(original);
    line.guarded.push(inspected.message);
    lasting &&= inspected.lasting;
  }
  line.pairing.finish("messages");
  line.isGood = lasting; // G1
  const guarded = Object.freeze([...line.guarded]);
  GUARDED_LISTS.add(guarded);
  return guarded;
}

function begun(first: LlmMessage): Line {
  const line: Line = { originals: [], guarded: [], pairing: new Pairing(), isGood: false };
  LINES.set(first, line);
  return line;
}

/** The line, if these messages begin with all of it. (G2) */
function continued(line: Line | undefined, messages: readonly LlmMessage[]): Line | undefined {
  if (!line?.isGood || line.originals.length > messages.length) return undefined;
  return line.originals.every((original, index) => original === messages[index]) ? line : undefined;
}
