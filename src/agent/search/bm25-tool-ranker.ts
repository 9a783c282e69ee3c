// Bm25ToolRanker: BM25F, a lexical ranking over several fields of a document.
//
// S. Robertson, H. Zaragoza: The Probabilistic Relevance Framework: BM25 and Beyond (2009), section 3.6. The counts of a term in
// the fields of a document are weighted, normalised by the length of the field, and added up; only then does the sum saturate. So
// a word that stands in the name and in an alias does not count as two words. The weight of a term is the one that is never
// negative, ln(1 + (N - n + 0.5) / (n + 0.5)).

import { invalidOption, wordsOf } from "../../kernel/index.js";
import { byId } from "./by-id.js";
import { STOP_WORDS_MAX, stopWordsOf } from "./stop-words.js";
import type { ToolDoc, ToolHit, ToolRanker } from "./tool-ranker.js";

/** Of a query, the rest is not read. */
export const QUERY_TERMS_MAX = 16;
/** In characters. */
export const QUERY_LENGTH_MAX = 512;

const SATURATION = 1.2;

interface Field {
  readonly weight: number;
  /** 0: the length of a field says nothing; 1: a word in a field of twice the length counts half. */
  readonly lengthMatters: number;
  readonly words: (doc: ToolDoc) => string[];
}

const FIELDS: readonly Field[] = [
  { weight: 4, lengthMatters: 0.3, words: ({ id }) => nameWords(id) },
  // More aliases are more ways to be found: they must not make each of them weaker by much.
  { weight: 2.5, lengthMatters: 0.3, words: ({ aliases }) => aliases.flatMap(wordsOf) },
  { weight: 2.5, lengthMatters: 0.3, words: ({ tags }) => tags.flatMap(wordsOf) },
  { weight: 1, lengthMatters: 0.75, words: ({ description = "" }) => wordsOf(description) },
];

/** In which document, by its place, a term occurs, and how often: weighted and summed over the fields. */
type Postings = Map<number, number>;

export interface Bm25Options {
  /** Words that a query is better without; an entry of several words stands for each. Default: common English ones. [] for none. */
  readonly stopwords?: readonly string[];
}

/**
 * Ranks by the words a query shares with a document's id, aliases, tags and description; an id weighs most, a description least.
 * Documents that share none are not found. Equal ones come in the order of their ids. Reads 512 characters and 16 different
 * words of a query. A query of nothing but stop words keeps them.
 *
 * @throws CONFIG_INVALID for more than 256 stop words
 */
export class Bm25ToolRanker implements ToolRanker {
  readonly kind = "bm25f";
  readonly #ids: readonly string[];
  readonly #postings: ReadonlyMap<string, Postings>;
  readonly #stopWords: ReadonlySet<string>;

  constructor(docs: readonly ToolDoc[], { stopwords }: Bm25Options = {}) {
    if (stopwords && stopwords.length > STOP_WORDS_MAX)
      throw invalidOption("stopwords", `may have ${STOP_WORDS_MAX} entries, not ${stopwords.length}`);
    this.#ids = docs.map(({ id }) => id);
    this.#postings = indexOf(docs);
    this.#stopWords = stopWordsOf(stopwords);
  }

  rank(query: string, limit: number): ToolHit[] {
    const scores = new Map<number, number>();
    for (const term of termsOf(query, this.#stopWords)) {
      const postings = this.#postings.get(term);
      if (!postings) continue;
      const rarity = Math.log(1 + (this.#ids.length - postings.size + 0.5) / (postings.size + 0.5));
      for (const [doc, count] of postings) {
        scores.set(doc, (scores.get(doc) ?? 0) + (rarity * count) / (SATURATION + count));
      }
    }
    return [...scores]
      .map(([doc, score]) => ({ id: this.#ids[doc]!, score }))
      .sort((a, b) => b.score - a.score || byId(a, b))
      .slice(0, Math.max(0, limit));
  }
}

function indexOf(docs: readonly ToolDoc[]): Map<string, Postings> {
  const index = new Map<string, Postings>();
  for (const { weight, lengthMatters, words } of FIELDS) {
    const fields = docs.map(words);
    const meanLength = fields.reduce((sum, { length }) => sum + length, 0) / docs.length;
    for (const [doc, field] of fields.entries()) {
      const norm = 1 - lengthMatters + (lengthMatters * field.length) / meanLength;
      for (const word of field) {
        const postings = index.get(word) ?? new Map<number, number>();
        index.set(word, postings.set(doc, (postings.get(doc) ?? 0) + weight / norm));
      }
    }
  }
  return index;
}

/** The different words of a query that are looked for. */
function termsOf(query: string, stopWords: ReadonlySet<string>): string[] {
  const words = [...new Set(wordsOf(boundedQuery(query)))];
  const telling = words.filter((word) => !stopWords.has(word));
  return (telling.length > 0 ? telling : words).slice(0, QUERY_TERMS_MAX);
}

/** What is read of a query, whoever ranks. */
export function boundedQuery(query: string): string {
  // A character is at most two units long, so no more of a long text is taken apart.
  return Array.from(query.slice(0, 2 * QUERY_LENGTH_MAX))
    .slice(0, QUERY_LENGTH_MAX)
    .join("");
}

/** Of `chargeInvoice`: charge, invoice, and chargeinvoice, which is how people write it too. */
function nameWords(id: string): string[] {
  const parts = wordsOf(id.replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1 $2"));
  return [...new Set([...parts, ...wordsOf(id)])];
}
