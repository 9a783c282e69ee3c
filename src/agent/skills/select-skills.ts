// Skills that are chosen before the first turn. Whom to choose is asked once; a replay is told who was.

import type { ExecutionContext, SkillDefinition } from "../../kernel/index.js";
import { HeddleError, unwrapTainted } from "../../kernel/index.js";
import type { LlmText } from "../../llm/index.js";
import { SkillRegistry } from "./skill-registry.js";

/** What a selector chooses by. */
export interface SkillSelection {
  /** What the agent is asked. Tainted where nobody vouches for it. */
  readonly prompt: LlmText;
  readonly skills: readonly SkillDefinition[];
}

/** Names the skills an agent begins with, by their ids or as they are. Its answer is recorded. */
export type SkillSelector = (
  selection: SkillSelection,
) => readonly (string | SkillDefinition)[] | Promise<readonly (string | SkillDefinition)[]>;

export const SELECTION_SOURCE = "agent-skills";

/** How many skills are chosen where nobody says how to choose. */
const SELECTED_MAX = 3;

/** Chooses by the words of the prompt, without a model. */
export const selectByWords: SkillSelector = ({ prompt, skills }) =>
  new SkillRegistry(skills).find(unwrapTainted<string>(prompt), { limit: SELECTED_MAX });

/**
 * The ids that were named, whether or not there are such skills; recorded as `<loop>#skills`.
 *
 * @throws CONFIG_INVALID, recorded, for a selector that gives no list of skills or ids
 */
export function selectSkills(
  ctx: ExecutionContext,
  loopId: string,
  selector: SkillSelector,
  selection: SkillSelection,
): Promise<readonly string[]> {
  const decider = async (): Promise<readonly string[]> => {
    const named: unknown = await selector(selection);
    if (Array.isArray(named)) {
      const ids = named.map((skill: unknown) => (typeof skill === "string" ? skill : idOf(skill)));
      if (ids.every((id) => id !== undefined)) return [...new Set(ids)];
    }
    throw new HeddleError("CONFIG_INVALID", "skillSelector must give a list of skills, or of their ids.");
  };
  return ctx.decide(`${loopId}#skills`, decider, { source: SELECTION_SOURCE });
}

function idOf(skill: unknown): string | undefined {
  const { id } = (skill ?? {}) as { readonly id?: unknown };
  return typeof id === "string" ? id : undefined;
}
