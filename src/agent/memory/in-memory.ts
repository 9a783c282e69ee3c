import { checkCount } from "../../kernel/index.js";
import type { AgentMemory, MemoryEntry, RecallQuery } from "./agent-memory.js";

export interface InMemoryAgentMemoryOptions {
  readonly scope?: string;
  /** The oldest are forgotten beyond that. Default 1,000. */
  readonly maxEntries?: number;
}

/** A memory that lives as long as the object: for tests, and for agents whose process is their session. */
export class InMemoryAgentMemory implements AgentMemory {
  readonly scope?: string;
  readonly #maxEntries: number;
  #entries: MemoryEntry[] = [];

  /** @throws CONFIG_INVALID */
  constructor({ scope, maxEntries = 1_000 }: InMemoryAgentMemoryOptions = {}) {
    checkCount("InMemoryAgentMemory: maxEntries", maxEntries, 1);
    if (scope !== undefined) this.scope = scope;
    this.#maxEntries = maxEntries;
  }

  /** All of them, oldest first. */
  get entries(): readonly MemoryEntry[] {
    return this.#entries;
  }

  recall({ limit }: RecallQuery): readonly MemoryEntry[] {
    return limit > 0 ? this.#entries.slice(-limit) : [];
  }

  remember(entries: readonly MemoryEntry[]): void {
    this.#entries = [...this.#entries, ...entries].slice(-this.#maxEntries);
  }
}
