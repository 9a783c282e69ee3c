// SkillRegistry: the skills of an app by id, and which of them a text is about. Choosing asks no model and no clock: the same
// skills and the same words give the same answer, whatever the order of registering.

import { HeddleError, isSkillDefinition, type SkillDefinition } from "../../kernel/index.js";

/** A word of the id or the tags says more of a skill than one in its description. */
const WEIGHTS = { id: 3, tag: 3, description: 1 };

export class SkillRegistry {
  readonly #skills = new Map<string, SkillDefinition>();

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
    const wanted = wordsOf(query);
    return this.all()
      .map((skill) => ({ skill, score: scoreOf(skill, wanted) }))
      .filter(({ score }) => score > 0)
      .toSorted((a, b) => b.score - a.score || byId(a.skill, b.skill))
      .slice(0, limit)
      .map(({ skill }) => skill);
  }
}

function scoreOf({ id, tags = [], description }: SkillDefinition, wanted: ReadonlySet<string>): number {
  const shared = (text: string): number => [...wordsOf(text)].filter((word) => wanted.has(word)).length;
  return (
    WEIGHTS.id * shared(id) + WEIGHTS.tag * shared(tags.join(" ")) + WEIGHTS.description * shared(description)
  );
}

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(
    text
      .normalize("NFKC")
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [],
  );
}

/** By code units, as no locale can change it. */
function byId(a: SkillDefinition, b: SkillDefinition): number {
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}
