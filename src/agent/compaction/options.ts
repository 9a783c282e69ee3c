// When a conversation is compacted, and what stays of it.

export interface CompactionOptions {
  /** The effect that summarizes: it takes `{ messages }` and gives `{ summary }`. `createSummarizerEffect` makes one. */
  readonly toolId: string;
  /** Compact when the conversation has more messages than this. */
  readonly afterMessages?: number;
  /** Compact when the conversation has more bytes than this (UTF-8). Then what stays has at most half of it. */
  readonly afterBytes?: number;
  /** The newest messages that stay, at most; less than `afterMessages`. Default 8, or one less than `afterMessages`. */
  readonly keepRecent?: number;
}

export interface CompactionSettings extends CompactionOptions {
  readonly keepRecent: number;
}

const KEEP_RECENT = 8;

/** What is wrong with a value as `compaction`, in words that follow on the option's name. */
export function compactionComplaint(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return "must be an object, as { toolId, afterMessages }";
  const { toolId, afterMessages, afterBytes, keepRecent, ...others } = value as Partial<CompactionOptions>;
  if (typeof toolId !== "string" || toolId === "")
    return "must name the effect that summarizes, as its toolId";
  if (afterMessages === undefined && afterBytes === undefined)
    return "needs afterMessages or afterBytes: without either of them it would never happen";
  for (const [option, count, least] of [
    ["afterMessages", afterMessages, 2],
    ["afterBytes", afterBytes, 1],
    ["keepRecent", keepRecent, 1],
  ] as const) {
    if (count !== undefined && !(Number.isSafeInteger(count) && count >= least))
      return `must have a whole number of at least ${least} as ${option}, not ${String(count)}`;
  }
  if (afterMessages !== undefined && keepRecent !== undefined && keepRecent >= afterMessages)
    return `keeps ${keepRecent} messages, and would happen every turn after ${afterMessages}: keepRecent must be less`;
  const [unknown] = Object.keys(others);
  return unknown === undefined ? undefined : `has no option ${unknown}`;
}

export function compactionSettings(options: CompactionOptions): CompactionSettings {
  const { afterMessages = Number.POSITIVE_INFINITY, keepRecent = Math.min(KEEP_RECENT, afterMessages - 1) } =
    options;
  return { ...options, keepRecent };
}
