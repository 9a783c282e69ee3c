// Definitions: the surfaces, agents, tools and skills an app knows, listed or found in modules, as code generation lists them.

import { SkillRegistry } from "../agent/skills/skill-registry.js";
import {
  type AgentDefinition,
  checkFlag,
  HeddleError,
  isAgentDefinition,
  isSkillDefinition,
  isToolDefinition,
  type SkillDefinition,
  type ToolDefinition,
} from "../kernel/index.js";
import { checkList, isRecord, unavailable } from "./option-checks.js";

/** A surface by its id. */
export interface SurfaceConfig {
  id: string;
  /** Paths to mask where the surface leaves the process. Not in this version: a value is refused, not ignored. */
  redact?: string[] | undefined;
}

/** A module by its exports. Of a kind of definition, every one that a module exports is taken. */
export type DefinitionModule = Readonly<Record<string, unknown>>;

export interface DefinitionsConfig {
  surfaces?: (string | SurfaceConfig)[] | undefined;
  /** Agents of the app. Agent cards are not in this version. */
  agents?: AgentDefinition[] | undefined;
  /** Modules that export agents. */
  agentModules?: DefinitionModule[] | undefined;
  /** Modules that export tools, which `app.tools` lists. */
  toolModules?: DefinitionModule[] | undefined;
  /** Modules that export skills, for `app.skills`. */
  skillModules?: DefinitionModule[] | undefined;
  /** Skills for `app.skills`. */
  skills?: SkillDefinition[] | undefined;
  /** Registers a surface for each agent as well, of the agent's id. Default false. */
  agentSurface?: boolean | undefined;
}

const MODULES = ["agentModules", "toolModules", "skillModules"] as const;

export const DEFINITION_OPTIONS: readonly string[] = [
  "surfaces",
  "agents",
  ...MODULES,
  "skills",
  "agentSurface",
];

export function checkDefinitionOptions(config: DefinitionsConfig): void {
  const { surfaces } = config;
  checkList(
    "surfaces",
    surfaces,
    (surface) =>
      typeof surface === "string" || isRecord(surface) || "is no surface: name it, or write { id }",
  );
  for (const surface of surfaces ?? []) {
    if (typeof surface === "object" && surface.redact !== undefined)
      throw unavailable(`surfaces[${surface.id}].redact`);
  }
  checkList(
    "agents",
    config.agents,
    (agent) =>
      isAgentDefinition(agent) || "is no agent: make one by agent$. Agent cards are not in this version",
  );
  checkList(
    "skills",
    config.skills,
    (skill) => isSkillDefinition(skill) || "is no skill: make one by skill$",
  );
  for (const option of MODULES)
    checkList(
      option,
      config[option],
      (module) =>
        isRecord(module) || 'is no module: list modules, as in import * as triage from "./triage.js"',
    );
  checkFlag("agentSurface", config.agentSurface);
}

export interface Definitions {
  readonly agents: readonly AgentDefinition[];
  readonly tools: readonly ToolDefinition[];
  readonly skills: SkillRegistry;
  /** Of `surfaces`, and of agents where they have surfaces. */
  readonly surfaceIds: readonly string[];
}

/**
 * What the options come to, in the order in which they list it.
 *
 * @throws DEFINITION_CONFLICT for two definitions of one kind and id
 */
export function readDefinitions(config: DefinitionsConfig): Definitions {
  const { surfaces = [], agentModules, toolModules, skills = [], skillModules } = config;
  const agents = unique("agents", [
    ...(config.agents ?? []),
    ...exportsOf(agentModules).filter(isAgentDefinition),
  ]);
  return {
    agents,
    tools: unique("tools", exportsOf(toolModules).filter(isToolDefinition)),
    skills: new SkillRegistry([...skills, ...exportsOf(skillModules).filter(isSkillDefinition)]),
    surfaceIds: [
      ...surfaces.map((surface) => (typeof surface === "string" ? surface : surface.id)),
      ...(config.agentSurface ? agents.map((agent) => agent.id) : []),
    ],
  };
}

function exportsOf(modules: readonly DefinitionModule[] = []): unknown[] {
  return modules.flatMap((module) => Object.values(module));
}

/** Without those that come twice, as when a module exports another one's. */
function unique<T extends { readonly id: string }>(kind: string, definitions: readonly T[]): readonly T[] {
  const known = new Map<string, T>();
  for (const definition of definitions) {
    const { id } = definition;
    if ((known.get(id) ?? definition) !== definition)
      throw new HeddleError(
        "DEFINITION_CONFLICT",
        `Two different ${kind} are named ${id}; give one of them another id.`,
        { details: { id } },
      );
    known.set(id, definition);
  }
  return [...known.values()];
}
