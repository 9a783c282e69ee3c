// Agents: who they are and what they may use. Plain frozen data; the loop that runs one is in the agent room.

import { checkDefinitions, checkFields, checkText } from "./definition.js";
import { checkId } from "./ids.js";
import { SKILLS, type SkillDefinition } from "./skill.js";
import { TOOLS, type ToolDefinition } from "./tool.js";

export interface AgentDefinition {
  readonly id: string;
  readonly name: string;
  /** What it is for, for people and for other agents. No model is told. */
  readonly description?: string;
  /** What the model is told of itself, before anything else. */
  readonly systemPrompt?: string;
  /** On its menu from the first turn. */
  readonly tools: readonly ToolDefinition[];
  /** What it may take up, where the loop is given no other skills. */
  readonly skills?: readonly SkillDefinition[];
  /** Under which name it remembers. Default: its id. */
  readonly memoryId?: string;
}

/** What `agent$` takes: an agent, with a name that defaults to its id, and tools if it has any. */
export interface AgentOptions extends Omit<AgentDefinition, "name" | "tools"> {
  readonly name?: string;
  readonly tools?: readonly ToolDefinition[];
}

const FIELDS = ["id", "name", "description", "systemPrompt", "tools", "skills", "memoryId"];

/**
 * An agent, for `agentLoop$`.
 *
 * @throws ID_INVALID, CONFIG_INVALID or DEFINITION_CONFLICT, naming the field
 */
export function agent$(options: AgentOptions): AgentDefinition {
  checkFields("agent$", options, FIELDS);
  checkId("agent id", options.id);
  const { id, name = id, description, systemPrompt, tools = [], skills, memoryId } = options;
  const owner = `agent ${id}`;
  checkText(owner, "name", name);
  if (description !== undefined) checkText(owner, "description", description);
  if (systemPrompt !== undefined) checkText(owner, "systemPrompt", systemPrompt);
  checkDefinitions(owner, "tools", tools, TOOLS);
  checkDefinitions(owner, "skills", skills, SKILLS);
  if (memoryId !== undefined) checkId(`${owner}: memoryId`, memoryId);
  return Object.freeze({ ...options, name, tools });
}

/** Whether a value is an agent, also one that other code put together. */
export function isAgentDefinition(value: unknown): value is AgentDefinition {
  const { id, name, tools } = (value ?? {}) as Partial<AgentDefinition>;
  return typeof id === "string" && typeof name === "string" && Array.isArray(tools);
}
