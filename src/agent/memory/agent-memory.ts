// AgentMemory: what an agent keeps from one run to the next. A small seam: whatever remembers may stand behind it.
//
// An object is the memory of somebody: who shares it shares what it holds. So hand over one for each user or tenant.

import type { LlmText } from "../../llm/index.js";

export interface MemoryEntry {
  /** Who said it: "user", "assistant", or what kind of thing it is, such as "note". */
  readonly role: string;
  /** What was tainted when it was written comes back tainted. */
  readonly content: LlmText;
}

export interface RecallQuery {
  /** Entries at most; what a memory gives beyond that is not read. */
  readonly limit: number;
  /** The prompt of the run, for memories that look for what fits. */
  readonly prompt?: LlmText | undefined;
}

export interface AgentMemory {
  /** Whose memory this is. Handed to the effect that writes, which may serve many. */
  readonly scope?: string;
  /** Oldest first. Asked once in a run: what it gives is recorded, and replays are served that. */
  recall(query: RecallQuery): Promise<readonly MemoryEntry[]> | readonly MemoryEntry[];
  /** After a crash it may be called again with the same entries. */
  remember(entries: readonly MemoryEntry[]): Promise<void> | void;
}

/** What is wrong with a value as `memory`, in words that follow on the option's name. */
export function memoryComplaint(value: unknown): string | undefined {
  const { recall, remember } = (value ?? {}) as Partial<AgentMemory>;
  return typeof recall === "function" && typeof remember === "function"
    ? undefined
    : "must have functions recall and remember, as an AgentMemory has";
}
