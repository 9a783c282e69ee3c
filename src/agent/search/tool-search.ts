// Options of toolSearch, checked and filled up.

import type { ToolDefinition } from "../../kernel/index.js";
import { AgentLoopConfigError } from "../errors.js";
import { checkOptions, type RuleTable, rules } from "../option-rules.js";
import { rankerComplaint } from "./ranker-source.js";
import { STOP_WORDS_MAX } from "./stop-words.js";
import type { ToolAnnotation } from "./tool-docs.js";
import type { ToolRanker, ToolRankerFactory } from "./tool-ranker.js";

/** A menu that grows by searching. Worth it from some 30 tools on: below, the menu costs less than the extra turns. */
export interface ToolSearchOptions {
  /** What can be found. Nothing else ever joins a menu by a search. */
  readonly catalog: readonly ToolDefinition[];
  /** Ids in the catalog of tools that are on the menu from the first turn. */
  readonly alwaysLoaded?: readonly string[];
  /** Beginnings of ids. Given, only tools with one of them can be found. */
  readonly namespaces?: readonly string[];
  /** Words of the host for tools, by their ids. The way to have third parties' tools found. */
  readonly annotations?: Readonly<Record<string, ToolAnnotation>>;
  /** What one search gives at most, skills included. Default 5. */
  readonly maxPerSearch?: number;
  /** Tools that join the menu by searches, in all. Default 20. */
  readonly maxLoaded?: number;
  /** Searches in all. Default 10. */
  readonly maxSearches?: number;
  /** Of the specs of the whole menu as JSON, in characters: a tool that would go beyond does not join. Default: no limit. */
  readonly maxMenuChars?: number;
  /** What finds. Its answers are recorded. Default: Bm25ToolRanker. */
  readonly ranker?: ToolRanker | ToolRankerFactory;
  /** Of the built-in ranker, at most 256: see Bm25ToolRanker. */
  readonly stopwords?: readonly string[];
}

export interface ToolSearchSettings extends Omit<ToolSearchOptions, "alwaysLoaded"> {
  readonly alwaysLoaded: readonly ToolDefinition[];
  /** The part of the catalog that can be found. */
  readonly searchable: readonly ToolDefinition[];
  readonly maxPerSearch: number;
  readonly maxLoaded: number;
  readonly maxSearches: number;
}

const RULES: RuleTable<ToolSearchOptions> = {
  catalog: rules.tools,
  alwaysLoaded: rules.texts,
  namespaces: rules.texts,
  annotations: annotationsComplaint,
  maxPerSearch: rules.count(1),
  maxLoaded: rules.count(1),
  maxSearches: rules.count(1),
  maxMenuChars: rules.count(1),
  ranker: rankerComplaint,
  stopwords: (value) =>
    rules.texts(value) ??
    ((value as readonly string[]).length > STOP_WORDS_MAX ? `may have ${STOP_WORDS_MAX} entries` : undefined),
};

/** @throws AgentLoopConfigError, naming the option */
export function readToolSearch(options: ToolSearchOptions): ToolSearchSettings {
  checkOptions("toolSearch", options, RULES, "toolSearch.");
  const {
    catalog,
    alwaysLoaded = [],
    namespaces,
    maxPerSearch = 5,
    maxLoaded = 20,
    maxSearches = 10,
  } = options;
  if (catalog === undefined)
    throw new AgentLoopConfigError("toolSearch.catalog", "is missing: without it there is nothing to find");
  return {
    ...options,
    maxPerSearch,
    maxLoaded,
    maxSearches,
    alwaysLoaded: alwaysLoaded.map((id, index) => {
      const tool = catalog.find((tool) => tool.id === id);
      if (tool) return tool;
      throw new AgentLoopConfigError(
        `toolSearch.alwaysLoaded[${index}]`,
        `is ${id}, which is not in the catalog`,
      );
    }),
    searchable: namespaces
      ? catalog.filter(({ id }) => namespaces.some((beginning) => id.startsWith(beginning)))
      : catalog,
  };
}

function annotationsComplaint(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return "must be an object with an annotation for each id";
  for (const [id, annotation] of Object.entries(value)) {
    const { aliases = [], tags = [], ...others } = (annotation ?? {}) as ToolAnnotation;
    const stranger = Object.keys(others)[0];
    if (stranger !== undefined) return `has a ${stranger} for ${id}; there are aliases and tags`;
    const complaint = rules.texts(aliases) ?? rules.texts(tags);
    if (complaint !== undefined) return `has words for ${id} that are no lists: each ${complaint}`;
  }
  return undefined;
}
