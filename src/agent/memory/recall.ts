// Recall: what an agent is reminded of before its first turn. A memory changes and a log does not, so what it gave is recorded as a
// decision, and a replay is served the prompt that ran.

import { type ExecutionContext, HeddleError, isTainted } from "../../kernel/index.js";
import type { TextPart, UserMessage } from "../../llm/index.js";
import type { AgentMemory, MemoryEntry, RecallQuery } from "./agent-memory.js";

/** Of everything that is recalled, as UTF-8. The oldest of what is more stays where it is. */
const RECALL_BYTES_MAX = 256 * 1024;

/**
 * One message that lists what was recalled, or none where that is nothing. What was written tainted is in it tainted.
 *
 * @throws INPUT_INVALID for a memory that gives no entries, and what the memory fails with
 */
export async function recall(
  ctx: Pick<ExecutionContext, "decide">,
  loopId: string,
  memory: AgentMemory,
  query: RecallQuery,
): Promise<UserMessage | undefined> {
  const { limit } = query;
  if (limit === 0) return undefined;
  const entries = await ctx.decide(
    `${loopId}#recall`,
    async () => bounded(await memory.recall(query), limit),
    { source: "agent-memory" },
  );
  return entries.length > 0 ? { role: "user", content: [HEADING, ...entries.flatMap(partsOf)] } : undefined;
}

const HEADING: TextPart = {
  type: "text",
  text: "What you remember from before this conversation, oldest first:",
};

/** What is tainted stands by itself: it is put behind a fence on its way to a model. */
function partsOf({ role, content }: MemoryEntry): readonly TextPart[] {
  const texts = isTainted(content) ? [`[${role}]`, content] : [`[${role}] ${content}`];
  return texts.map((text) => ({ type: "text", text }));
}

/** The newest that are within both bounds. */
function bounded(given: readonly MemoryEntry[], limit: number): readonly MemoryEntry[] {
  if (!Array.isArray(given)) throw notEntries();
  let bytes = 0;
  const kept: MemoryEntry[] = [];
  for (const { role, content } of (given as readonly MemoryEntry[]).slice(-limit).reverse()) {
    if (typeof role !== "string" || !(typeof content === "string" || isTainted(content))) throw notEntries();
    bytes += Buffer.byteLength(JSON.stringify(content));
    if (bytes > RECALL_BYTES_MAX) break;
    kept.unshift({ role, content });
  }
  return kept;
}

function notEntries(): HeddleError {
  return new HeddleError(
    "INPUT_INVALID",
    "memory.recall gave something that is no list of entries ({ role, content }, where content is a text, tainted or not).",
  );
}
