// search_tools: the meta tool with which a model finds tools, and skills, that it was not told of.
//
// S1  A search is one decision; what came of it, the words the model was shown included, is in it. A replay ranks nothing.
// S2  Only what can be found joins the menu, and only by being on the page a search gives. A skill never does.
// S3  What names a third party's tool is tainted.
// S4  A ranker that fails is a decision that failed: the model is told so, and so is every replay.

import {
  type ExecutionContext,
  HeddleError,
  hasCode,
  type ToolDefinition,
  tainted,
} from "../../kernel/index.js";
import type { LlmText, LlmToolCall, LlmToolSpec } from "../../llm/index.js";
import { type MetaAnswer, type MetaTool, refusal } from "../menu/meta-tool.js";
import { isLoadable, isThirdParty, vouchedDescription, WITHHELD } from "../menu/third-party.js";
import type { MenuEntry, ToolMenu } from "../menu/tool-menu.js";
import type { Warn } from "../warnings.js";
import { Bm25ToolRanker, boundedQuery, QUERY_LENGTH_MAX } from "./bm25-tool-ranker.js";
import { interleaved } from "./interleaved.js";
import { RankerSource } from "./ranker-source.js";
import { toolSearchDocs } from "./tool-docs.js";
import { rankedIds } from "./tool-ranker.js";
import type { ToolSearchSettings } from "./tool-search.js";

const SOURCE = "agent-tool-search";
const ORIGIN = "tool-search";

/** A search, as the log has it. */
interface SearchRecord {
  readonly content: LlmText;
  /** What joined the menu. */
  readonly menu: readonly MenuEntry[];
  /** The kinds of the rankers that were asked. */
  readonly rankers: readonly string[];
}

/** Things that a search may give: the ranker's documents hold all of them, and those that are findable get fewer. */
export interface Findable {
  readonly ranker: RankerSource;
  readonly count: number;
  /** The ids that a search may give, as of now. */
  findable(): ReadonlySet<string>;
}

/** Skills, as far as searches go. */
export interface FindableSkills extends Findable {
  descriptionOf(id: string): string;
}

export interface SearchToolsOptions {
  readonly ctx: ExecutionContext;
  readonly settings: ToolSearchSettings;
  readonly menu: ToolMenu;
  readonly trust: boolean;
  readonly skills?: FindableSkills | undefined;
  readonly warn: Warn;
}

export class SearchTools implements MetaTool {
  readonly spec: LlmToolSpec;
  readonly #options: SearchToolsOptions;
  readonly #tools: FindableTools;
  #searches = 0;
  #loaded = 0;

  /** @param options.menu as it is on the first turn */
  constructor(options: SearchToolsOptions) {
    this.#options = options;
    this.spec = searchSpec(options.skills !== undefined);
    this.#tools = new FindableTools(options);
  }

  async answer({ input }: Pick<LlmToolCall, "input">, stepId: string): Promise<MetaAnswer> {
    const { ctx, menu, settings } = this.#options;
    const query = queryOf(input);
    if (query === undefined) return refusal("invalid_query", "Say in query, as text, what you look for.");
    if (this.#searches >= settings.maxSearches)
      return refusal(
        "search_limit_reached",
        `All ${settings.maxSearches} searches are used up. Go on with the tools you have.`,
      );
    this.#searches++;
    const decisionId = `${stepId}:search`;
    let found: SearchRecord;
    try {
      found = await ctx.decide(decisionId, () => this.#search(query), { source: SOURCE });
    } catch (error) {
      if (!hasCode(error, "AGENT_SEARCH_UNAVAILABLE")) throw error;
      return refusal(
        "search_unavailable",
        "The search does not work now. Go on with the tools you have, or search later.",
      );
    }
    menu.add(found.menu);
    this.#loaded += found.menu.length;
    return { content: found.content, decisionId };
  }

  /** Never on a replay. (S1) */
  async #search(query: string): Promise<SearchRecord> {
    const { settings, menu, skills } = this.#options;
    const { maxPerSearch, maxLoaded, maxMenuChars } = settings;
    const tools = await ranked(this.#tools, query, maxPerSearch);
    const found = skills && (await ranked(skills, query, maxPerSearch));

    const page = interleaved<{ readonly kind: "tool" | "skill"; readonly id: string }>(
      tools.ids.map((id) => ({ kind: "tool", id })),
      (found?.ids ?? []).map((id) => ({ kind: "skill", id })),
      maxPerSearch,
    );
    const onPage = page.flatMap(({ kind, id }) => (kind === "tool" ? this.#tools.get(id) : []));
    const joining = menu
      .offer(onPage.filter(isLoadable), { charsMax: maxMenuChars })
      .slice(0, maxLoaded - this.#loaded);
    const names = new Map(joining.map(({ spec, tool }) => [tool?.id, spec.name]));
    const content = JSON.stringify({
      tools: onPage.map((tool) => this.#shown(tool, names.get(tool.id))),
      ...(skills && {
        skills: page.flatMap(({ kind, id }) =>
          kind === "skill" ? { kind, id, description: skills.descriptionOf(id) } : [],
        ),
      }),
    });
    return {
      content: onPage.some(isThirdParty) ? tainted(content, ORIGIN) : content,
      menu: joining,
      rankers: [tools.kind, ...(found ? [found.kind] : [])],
    };
  }

  /** @param name under which it can be called. Absent: it did not join the menu */
  #shown(tool: ToolDefinition, name: string | undefined): Readonly<Record<string, unknown>> {
    const description = vouchedDescription(tool, this.#options.trust) ?? WITHHELD;
    if (name !== undefined) return { name, description };
    return {
      name: tool.id,
      description,
      callable: false,
      reason: isLoadable(tool) ? "menu_full" : "untrusted",
    };
  }
}

/** The catalog without what is on the menu from the first turn. It stays the same for the run, as the ranker's documents do. */
class FindableTools implements Findable {
  readonly ranker: RankerSource;
  readonly #tools: ReadonlyMap<string, ToolDefinition>;
  readonly #menu: ToolMenu;

  constructor({ settings, menu, trust, warn }: SearchToolsOptions) {
    const { searchable, stopwords, ranker, annotations } = settings;
    this.#menu = menu;
    const tools = searchable.filter(({ id }) => !menu.has(id));
    this.#tools = new Map(tools.map((tool) => [tool.id, tool]));
    this.ranker = new RankerSource(
      ranker ?? ((docs) => new Bm25ToolRanker(docs, stopwords && { stopwords })),
      "toolSearch.ranker",
      () =>
        toolSearchDocs([...this.#tools.values()], {
          trustJsonSchemaText: trust,
          ...(annotations && { annotations }),
        }),
      warn,
    );
  }

  get count(): number {
    return this.#tools.size;
  }

  get(id: string): ToolDefinition | [] {
    return this.#tools.get(id) ?? [];
  }

  findable(): ReadonlySet<string> {
    return new Set([...this.#tools.keys()].filter((id) => !this.#menu.has(id)));
  }
}

/**
 * The first `limit` that can be found. A ranker is asked for as many more as there are that cannot be any more.
 *
 * @throws AGENT_SEARCH_UNAVAILABLE when the ranker does (S4)
 */
async function ranked(
  things: Findable,
  query: string,
  limit: number,
): Promise<{ readonly ids: readonly string[]; readonly kind: string }> {
  const findable = things.findable();
  try {
    const ranker = things.ranker.get();
    const ids = await rankedIds(ranker, query, limit + things.count - findable.size, findable);
    return { ids: ids.slice(0, limit), kind: ranker.kind };
  } catch (error) {
    throw new HeddleError("AGENT_SEARCH_UNAVAILABLE", "The ranker of a search failed.", { cause: error });
  }
}

function queryOf(input: unknown): string | undefined {
  const { query } = (input ?? {}) as { readonly query?: unknown };
  return typeof query === "string" && query.trim() !== "" ? boundedQuery(query) : undefined;
}

export function searchSpec(withSkills: boolean): LlmToolSpec {
  const skills = " Skills it finds are taken up with activate_skill.";
  return {
    name: "search_tools",
    description: `Finds tools by what they do. What it finds joins your tools, to be called from your next turn on.${withSkills ? skills : ""}`,
    inputSchema: {
      type: "object",
      properties: {
        query: { type: "string", maxLength: QUERY_LENGTH_MAX, description: "What you want to do." },
      },
      required: ["query"],
    },
  };
}
