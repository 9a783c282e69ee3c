// The offer: which skills a run may take up, and what the model is told of them at its beginning.

import type { SkillDefinition } from "../../kernel/index.js";
import { byId } from "../search/by-id.js";
import type { SkillActivationSettings } from "./skill-activation.js";
import { isOfferable, skillIndex } from "./skill-index.js";

export interface SkillsOffer {
  readonly ids: readonly string[];
  /** Whether searches find them. */
  readonly findable: boolean;
  /** For the prompt of the system. Absent where there are none. */
  readonly text: string | undefined;
}

const INDEX =
  "Skills hold instructions for special tasks. When you need one, take it up with activate_skill:";
const SEARCH =
  "Skills hold instructions for special tasks: find them with search_tools, and take them up with activate_skill.";

/** @param selected those the run begins with: it has them already */
export function skillsOffer(
  { catalog, discovery, maxIndex, maxIndexBytes }: SkillActivationSettings,
  selected: readonly SkillDefinition[],
): SkillsOffer {
  const had = new Set(selected.map(({ id }) => id));
  const skills = catalog.filter((skill) => isOfferable(skill) && !had.has(skill.id)).toSorted(byId);
  const findable = discovery !== "index" && skills.length > 0;
  if (skills.length === 0) return { ids: [], findable, text: undefined };
  const { text, listed } = skillIndex(skills, maxIndex, maxIndexBytes);
  const index = `${INDEX}\n${text}`;
  if (discovery === "index") return { ids: listed.map(({ id }) => id), findable, text: index };
  const ids = skills.map(({ id }) => id);
  return { ids, findable, text: discovery === "search" ? SEARCH : `${SEARCH}\n\n${index}` };
}
