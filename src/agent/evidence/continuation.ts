// Continuation: a vendor wants the reasoning back that led to a call of a tool, block by block and unchanged. The log has only parts, so
// the text is looked up when the next request is built, and by nobody else.
//
// O1  What is sent back is exactly what came, in its order, or not at all.
// O2  A part whose text cannot be had again takes all later ones with it: they build on it.
// O3  A signature covers the tools the model was shown: when the menu has grown, what came before that is dropped.
// O4  What another provider or route made is dropped; the rest stays.
// O5  A store that cannot be read fails the step. That is no reason to forget what the model thought.
// O6  A message that says what it said in the last request is the same frozen object: the prompt boundary knows it, and looks at what is
//     new alone.

import { isDeepStrictEqual } from "node:util";
import { isDeepFrozen } from "../../llm/guard/deep-frozen.js";
import type {
  AssistantMessage,
  LlmMessage,
  LlmRequest,
  LlmToolSpec,
  ReasoningBlock,
  ReasoningPart,
} from "../../llm/index.js";
import { sha256 } from "../sha256.js";
import { frozenCopy } from "../transcript/frozen.js";
import { type ReasoningStore, unseal } from "./sealed-text.js";

export interface Reader {
  readonly executionId: string;
  readonly provider: string;
  readonly route?: string | undefined;
  /** Absent: no reasoning is continued. */
  readonly store?: ReasoningStore | undefined;
}

/**
 * The same request with blocks in place of parts; the very same where there are none.
 *
 * @throws what the store fails with (O5)
 */
export function continued(request: LlmRequest, reader: Reader): LlmRequest | Promise<LlmRequest> {
  const hasParts = request.messages.some((message) => partsOf(message).length > 0);
  return hasParts ? withBlocks(request, reader) : request;
}

async function withBlocks(request: LlmRequest, reader: Reader): Promise<LlmRequest> {
  const menu = menuOf(request.tools);
  const messages: LlmMessage[] = [];
  let isBroken = false;
  for (const message of request.messages) {
    const parts = partsOf(message);
    if (parts.length === 0) {
      messages.push(message);
      continue;
    }
    const blocks: ReasoningBlock[] = [];
    for (const part of isWhole(message) ? parts : []) {
      if (isBroken || !isOurs(part, reader, menu)) continue;
      const block = await blockOf(part, reader);
      if (block) blocks.push(block);
      else isBroken = true; // O2
    }
    messages.push(withReasoning(message as AssistantMessage, blocks));
  }
  return { ...request, messages };
}

/** Tells menus apart. The same tools in the same order are the same menu. */
export function menuOf(tools: readonly LlmToolSpec[] = []): string {
  return sha256(JSON.stringify(tools)).slice(0, 16);
}

function partsOf(message: LlmMessage): readonly ReasoningPart[] {
  return message.role === "assistant" ? (message.reasoning ?? []) : [];
}

/** What a model was stopped in the middle of has no signature. */
function isWhole(message: LlmMessage): boolean {
  return message.role === "assistant" && !message.interrupted;
}

/** O3, O4 */
function isOurs(part: ReasoningPart, { provider, route }: Reader, menu: string): boolean {
  return part.provider === provider && part.route === route && (part.menu ?? menu) === menu;
}

async function blockOf(part: ReasoningPart, reader: Reader): Promise<ReasoningBlock | undefined> {
  const { reference, digest, menu: _menu, route: _route, unstored, ...block } = part;
  if (unstored || !reader.store) return undefined;
  if (reference === undefined) return block; // it never had a text
  const unsealed = await unseal(reader.store, reader.executionId, { reference, digest });
  return unsealed.status === "ok" ? { ...block, text: unsealed.text } : undefined;
}

/** By a message that cannot change: how it was sent last. (O6) */
const SENT = new WeakMap<AssistantMessage, AssistantMessage>();

function withReasoning(original: AssistantMessage, blocks: readonly ReasoningBlock[]): AssistantMessage {
  const sent = SENT.get(original);
  if (sent && isDeepStrictEqual(sent.reasoning ?? [], blocks)) return sent;
  const { reasoning: _parts, ...message } = original;
  const sending = frozenCopy({ ...message, ...(blocks.length > 0 && { reasoning: blocks }) });
  if (sent || isDeepFrozen(original)) SENT.set(original, sending);
  return sending;
}
