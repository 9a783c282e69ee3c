// The opening of a run: what the model is told before its first turn, and the tools it begins with.
//
// O1  It is one decision, `<loop>#begin`. Prompts, tools and skills may say something else by the time a log is taken up again: the
//     agent goes on with what it was told, and its requests with what a provider's cache has.
// O2  Which skills it begins with is a decision before that, `<loop>#skills`. A replay selects none, and fetches no instructions.

import {
  type ExecutionContext,
  HeddleError,
  type SkillDefinition,
  type ToolDefinition,
} from "../../kernel/index.js";
import type { LlmText, LlmToolSpec } from "../../llm/index.js";
import type { LoopSettings } from "../loop-config.js";
import type { MetaTool } from "../menu/meta-tool.js";
import { type MenuEntry, ToolMenu } from "../menu/tool-menu.js";
import { SearchTools, searchSpec } from "../search/search-tools.js";
import { ACTIVATE_SPEC, ActivateSkill } from "../skills/activate-skill.js";
import { findableSkills } from "../skills/findable-skills.js";
import { fetchInstructions } from "../skills/instructions.js";
import { selectSkills } from "../skills/select-skills.js";
import type { SkillActivationSettings } from "../skills/skill-activation.js";
import { type SkillsOffer, skillsOffer } from "../skills/skills-offer.js";

export interface Opening {
  readonly system: string | undefined;
  readonly menu: ToolMenu;
  /** What the loop answers itself, by name. */
  readonly metaTools: ReadonlyMap<string, MetaTool>;
}

/** What of it the log has. */
interface OpeningRecord {
  readonly system?: string;
  readonly menu: readonly MenuEntry[];
  /** The ids of the skills that may be taken up. */
  readonly offered: readonly string[];
}

/** What the prompt of the system is made of, beside skills. */
export interface Briefing {
  readonly system: string | undefined;
  /** Comes last: it is another one for each run, and what is before it stays in a provider's cache. */
  readonly context: string | undefined;
  readonly prompt: LlmText;
}

const BEGIN_SOURCE = "agent-begin";

/** @throws AGENT_SKILL_UNAVAILABLE, recorded, for a skill that was selected and has no instructions to give */
export async function openRun(
  ctx: ExecutionContext,
  settings: LoopSettings,
  briefing: Briefing,
): Promise<Opening> {
  const { id: loopId, toolSearch, trustJsonSchemaText: trust, warn } = settings;
  const selected = await selectedSkills(ctx, settings, briefing.prompt);
  const menu = new ToolMenu({
    tools: toolsById(settings),
    trust,
    onChange: ({ toolId, now }) =>
      warn(
        "LOOM_AGENT_TOOL_CHANGED",
        now
          ? `Tool ${toolId} has another description or schema than ${loopId} was told. The agent keeps to what it was told.`
          : `Tool ${toolId}, of which ${loopId} was told, is gone. Calls of it are refused.`,
      ),
  });
  const record = await ctx.decide(`${loopId}#begin`, () => recordOf(settings, briefing, selected, menu), {
    source: BEGIN_SOURCE,
  });
  menu.add(record.menu);

  const activation = settings.skillActivation;
  const activate = activation && activateSkill(ctx, settings, activation, record.offered, menu);
  const search =
    toolSearch &&
    new SearchTools({
      ctx,
      settings: toolSearch,
      menu,
      trust,
      warn,
      skills:
        activation && activate && activation.discovery !== "index"
          ? findableSkills({
              skills: activation.catalog.filter(({ id }) => record.offered.includes(id)),
              isActive: (id) => activate.isActive(id),
              ranker: activation.skillRanker,
              stopwords: toolSearch.stopwords,
              warn,
            })
          : undefined,
    });
  const told = new Set(record.menu.flatMap(({ spec, tool }) => (tool ? [] : spec.name)));
  const answered = [search, activate].filter((meta) => meta !== undefined && told.has(meta.spec.name));
  return {
    system: record.system,
    menu,
    metaTools: new Map(answered.map((meta) => [meta!.spec.name, meta!])),
  };
}

/** O2. Those of the skills named that there are. */
async function selectedSkills(
  ctx: ExecutionContext,
  { id, skills, skillSelector }: LoopSettings,
  prompt: LlmText,
): Promise<readonly SkillDefinition[]> {
  if (!skills || !skillSelector) return [];
  const named = await selectSkills(ctx, id, skillSelector, { prompt, skills });
  return named.flatMap((skillId) => skills.find((skill) => skill.id === skillId) ?? []);
}

/** Never on a replay. (O1) */
async function recordOf(
  { tools, toolSearch, skillActivation }: LoopSettings,
  { system, context }: Briefing,
  selected: readonly SkillDefinition[],
  menu: ToolMenu,
): Promise<OpeningRecord> {
  const offer: SkillsOffer = skillActivation
    ? skillsOffer(skillActivation, selected)
    : { ids: [], findable: false, text: undefined };
  const meta: LlmToolSpec[] = [
    ...(toolSearch ? [searchSpec(offer.findable)] : []),
    ...(offer.ids.length > 0 ? [ACTIVATE_SPEC] : []),
  ];
  const skillTools = selected.flatMap((skill) => skill.tools ?? []);
  const first = [...tools, ...skillTools, ...(toolSearch?.alwaysLoaded ?? [])];
  const skillTexts = await Promise.all(selected.map(instructionsOf));
  const sections = [system, ...skillTexts, offer.text, context].filter((section) => section !== undefined);
  return {
    ...(sections.length > 0 && { system: sections.join("\n\n") }),
    menu: [...meta.map((spec) => ({ spec })), ...menu.offer(first, { before: meta })],
    offered: offer.ids,
  };
}

async function instructionsOf(skill: SkillDefinition): Promise<string> {
  const fetched = await fetchInstructions(skill, Infinity);
  if ("text" in fetched) return `Skill ${skill.id}:\n${fetched.text}`;
  throw new HeddleError(
    "AGENT_SKILL_UNAVAILABLE",
    `Skill ${skill.id} was selected and gives no instructions (${fetched.refusal}).`,
    { details: { skillId: skill.id, reason: fetched.refusal } },
  );
}

function activateSkill(
  ctx: ExecutionContext,
  { warn }: LoopSettings,
  { catalog, maxActive, maxInstructionBytes }: SkillActivationSettings,
  offered: readonly string[],
  menu: ToolMenu,
): ActivateSkill {
  return new ActivateSkill({
    ctx,
    menu,
    catalog: new Map(catalog.map((skill) => [skill.id, skill])),
    offered: new Set(offered),
    maxActive,
    maxInstructionBytes,
    warn,
  });
}

/** Every tool that can come to be on the menu. Of several with one id, the one that would join first. */
function toolsById({
  tools,
  skills = [],
  skillActivation,
  toolSearch,
}: LoopSettings): Map<string, ToolDefinition> {
  const all = [...skills, ...(skillActivation?.catalog ?? [])].flatMap((skill) => skill.tools ?? []);
  return new Map(
    [...tools, ...all, ...(toolSearch?.catalog ?? [])].toReversed().map((tool) => [tool.id, tool]),
  );
}
