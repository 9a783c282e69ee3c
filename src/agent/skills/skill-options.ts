// Options of a loop that are about skills, checked and filled up.

import type { AgentDefinition, SkillDefinition } from "../../kernel/index.js";
import { AgentLoopConfigError } from "../errors.js";
import { type Rule, rules } from "../option-rules.js";
import { type SkillSelector, selectByWords } from "./select-skills.js";
import {
  readSkillActivation,
  type SkillActivationOptions,
  type SkillActivationSettings,
} from "./skill-activation.js";
import { SkillRegistry } from "./skill-registry.js";

export interface SkillOptions {
  /** What the agent may take up. Default: the definition's. */
  readonly skills?: SkillRegistry | readonly SkillDefinition[];
  /**
   * Names the skills the agent begins with; its answer is recorded. Default: those that share most words with the prompt, at most 3;
   * none with `skillActivation`.
   */
  readonly skillSelector?: SkillSelector;
  /** Lets the model take up further skills while it works. Default: it cannot. */
  readonly skillActivation?: SkillActivationOptions;
}

export interface SkillSettings {
  readonly skills?: readonly SkillDefinition[];
  /** There are skills where there is one. */
  readonly skillSelector?: SkillSelector;
  readonly skillActivation?: SkillActivationSettings;
}

export const skillsComplaint: Rule = (value) =>
  value instanceof SkillRegistry || rules.skills(value) === undefined
    ? undefined
    : "must be a SkillRegistry, or a list of skills, as skill$ gives them";

/**
 * @param hasSearch whether the loop has `toolSearch`
 * @throws AgentLoopConfigError, naming the option
 */
export function readSkillOptions(
  {
    definition,
    skills = definition.skills,
    skillSelector,
    skillActivation,
  }: SkillOptions & { readonly definition: AgentDefinition },
  hasSearch: boolean,
): SkillSettings {
  const all = skills instanceof SkillRegistry ? skills.all() : skills;
  if (skillSelector && !all)
    throw new AgentLoopConfigError("skillSelector", "selects skills, and there are none: give skills too");
  const selector = skillSelector ?? (skillActivation ? undefined : selectByWords);
  return {
    ...(all && { skills: all }),
    ...(all && selector && { skillSelector: selector }),
    ...(skillActivation && { skillActivation: readSkillActivation(skillActivation, all, hasSearch) }),
  };
}
