// SkillRegistry: the skills of an app by id, and which of them a text is about. Choosing asks no model and no clock: the same
// skills and the same words give the same answer, whatever the order of registering.

import { HeddleError, isSkillDefinition, type SkillDefinition } from "../../kernel/index.js";
import { Bm25ToolRanker } from "../search/bm25-tool-ranker.js";
import { byId } from "../search/by-id.js";
import type { ToolDoc } from "../search/tool-ranker.js";

export class SkillRegistry {
  readonly #skills = new Map<string, SkillDefinition>();
  /** Over the skills as they are; made when somebody searches. */
  #ranker: Bm25ToolRanker | undefined;

  constructor(skills: Iterable<SkillDefinition> = []) {
    for (const skill of skills) this.register(skill);
  }

  /**
   * Takes a skill in. The same one may come again.
   *
   * @throws CONFIG_INVALID for what `skill$` did not make, DEFINITION_CONFLICT for another skill of a taken id
   */
  register(skill: SkillDefinition): void {
    if (!isSkillDefinition(skill))
      throw new HeddleError("CONFIG_INVALID", "SkillRegistry.register takes a skill made by skill$.");
    const known = this.#skills.get(skill.id);
    if (known && known !== skill)
      throw new HeddleError(
        "DEFINITION_CONFLICT",
        `Another skill is registered as ${skill.id}; give one of them another id.`,
        { details: { skillId: skill.id } },
      );
    this.#skills.set(skill.id, skill);
    this.#ranker = undefined;
  }

  get(id: string): SkillDefinition | undefined {
    return this.#skills.get(id);
  }

  /** Every skill, by id. */
  all(): readonly SkillDefinition[] {
    return [...this.#skills.values()].toSorted(byId);
  }

  /**
   * The skills that share words with the query, most relevant first; those that are equally so by id.
   *
   * @param options.limit how many at most. Default: all of them
   */
  find(query: string, { limit = Infinity }: { readonly limit?: number } = {}): readonly SkillDefinition[] {
    this.#ranker ??= new Bm25ToolRanker([...this.#skills.values()].map(skillDoc));
    return this.#ranker.rank(query, limit).map(({ id }) => this.#skills.get(id)!);
  }
}

/** What a search may know of a skill. */
export function skillDoc({ id, description, tags = [] }: SkillDefinition): ToolDoc {
  return { id, description, tags, aliases: [] };
}
