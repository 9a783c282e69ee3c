// ToolRanker: what finds tools or skills for a query, and the one way in which its answer is read.

/** What a ranker may know of a tool or a skill: only text the host or the author of the program vouches for. */
export interface ToolDoc {
  readonly id: string;
  /** Absent where nobody vouches for it. */
  readonly description?: string;
  readonly tags: readonly string[];
  readonly aliases: readonly string[];
}

export interface ToolHit {
  readonly id: string;
  readonly score?: number;
}

export interface ToolRanker {
  /** Recorded beside what it found, such as "bm25f". */
  readonly kind: string;
  /**
   * The best matches, best first. Only the first `limit` of them are read; ids that were not in the documents, and repeated
   * ones, count and find nothing. What it throws makes the search unavailable, and is recorded.
   */
  rank(query: string, limit: number): Iterable<ToolHit> | Promise<Iterable<ToolHit>>;
}

/** Called once, on the first search of a run, and never on a replay. */
export type ToolRankerFactory = (docs: readonly ToolDoc[]) => ToolRanker;

/** Reads at most `limit` hits, however many there are, and gives the ids among them that are `known`, each once. */
export async function rankedIds(
  ranker: ToolRanker,
  query: string,
  limit: number,
  known: ReadonlySet<string>,
): Promise<string[]> {
  const ids = new Set<string>();
  if (limit <= 0) return [];
  let read = 0;
  for (const { id } of await ranker.rank(query, limit)) {
    if (known.has(id)) ids.add(id);
    if (++read >= limit) break;
  }
  return [...ids];
}
