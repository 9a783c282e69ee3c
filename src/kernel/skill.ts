// Skills: instructions, and tools that go with them, which an agent takes up when they are relevant. The text is fetched when it
// is needed, so a hundred skills cost a hundred descriptions.

import { checkDefinitions, checkFields, checkText, checkTexts } from "./definition.js";
import { invalidOption } from "./errors.js";
import { checkId } from "./ids.js";
import type { Tainted } from "./taint.js";
import { TOOLS, type ToolDefinition } from "./tool.js";

/** Text, or what fetches it. Text that comes back tainted is given to no model. */
export type Instructions = string | (() => string | Tainted<string> | Promise<string | Tainted<string>>);

export interface SkillDefinition {
  readonly id: string;
  /** When to take it up, for whoever chooses. */
  readonly description: string;
  /** Words for the things it is about, which searches look into. */
  readonly tags?: readonly string[];
  /** Join the menu of the agent that takes the skill up. */
  readonly tools?: readonly ToolDefinition[];
  /** What the model is told. A function is called when the skill is taken up, each time. */
  readonly instructions: Instructions;
}

const FIELDS = ["id", "description", "tags", "tools", "instructions"];

/**
 * A skill. Its words are read as the host's own: register skills yourself, never what somebody else declares.
 *
 * @throws ID_INVALID, CONFIG_INVALID or DEFINITION_CONFLICT, naming the field
 */
export function skill$(options: SkillDefinition): SkillDefinition {
  checkFields("skill$", options, FIELDS);
  checkId("skill id", options.id);
  const owner = `skill ${options.id}`;
  checkText(owner, "description", options.description);
  checkTexts(owner, "tags", options.tags);
  checkDefinitions(owner, "tools", options.tools, TOOLS);
  const instructions: unknown = options.instructions;
  if (typeof instructions !== "function" && (typeof instructions !== "string" || instructions.trim() === ""))
    throw invalidOption(`${owner}: instructions`, "must be a text, or a function that gives one");
  return Object.freeze({ ...options });
}

/** Whether a value is a skill, also one that other code put together. */
export function isSkillDefinition(value: unknown): value is SkillDefinition {
  const { id, description, instructions } = (value ?? {}) as Partial<SkillDefinition>;
  return (
    typeof id === "string" &&
    typeof description === "string" &&
    (typeof instructions === "string" || typeof instructions === "function")
  );
}

export const SKILLS = { is: isSkillDefinition, made: "skill$" };
