// activate_skill: the meta tool with which a model takes up a skill it was not given.
//
// K1  The instructions are the answer to the call; what the model was told before stays as it is, and stays in its provider's cache.
// K2  Taking up a skill is one decision, with the instructions as they were given and the tools that joined. A replay fetches
//     nothing, and tells the model what it was told, whatever the skill says by now.
// K3  A skill that is taken up again is given again from that record, if it still says the same: a second decision, of another
//     source, holds what the comparison came to. Nothing joins, and it does not count.

import type { ExecutionContext, SkillDefinition } from "../../kernel/index.js";
import type { LlmToolCall, LlmToolSpec } from "../../llm/index.js";
import { errorText, type MetaAnswer, type MetaTool, refusal } from "../menu/meta-tool.js";
import type { MenuEntry, ToolMenu } from "../menu/tool-menu.js";
import { sha256 } from "../sha256.js";
import type { Warn } from "../warnings.js";
import { fetchInstructions, type InstructionsRefusal } from "./instructions.js";

export const ACTIVATION_SOURCE = "agent-skill-activation";
const DELIVERY_SOURCE = "agent-skill-delivery";
const SKILL_CHANGED = "LOOM_AGENT_SKILL_CHANGED";

/** A call that was decided, as the log has it. */
export type SkillRecord =
  | {
      readonly skill: string;
      readonly verdict: "activated";
      /** Of the instructions, in SHA-256. */
      readonly digest: string;
      readonly content: string;
      /** What joined. */
      readonly menu: readonly MenuEntry[];
    }
  | { readonly skill: string; readonly verdict: InstructionsRefusal; readonly content: string };

interface DeliveryRecord {
  readonly skill: string;
  readonly verdict: "same" | "instructions_changed" | "instructions_unavailable";
  /** Absent: that of the activation. */
  readonly content?: string;
}

export interface ActivateSkillOptions {
  readonly ctx: ExecutionContext;
  readonly menu: ToolMenu;
  /** The skills there are now, by id. */
  readonly catalog: ReadonlyMap<string, SkillDefinition>;
  /** Those that this run may take up, as the log has it. */
  readonly offered: ReadonlySet<string>;
  readonly maxActive: number;
  readonly maxInstructionBytes: number;
  readonly warn: Warn;
}

interface ActiveSkill {
  readonly digest: string;
  readonly decisionId: string;
  readonly content: string;
}

export const ACTIVATE_SPEC: LlmToolSpec = {
  name: "activate_skill",
  description:
    "Takes up a skill: gives you its instructions, and adds its tools to yours from your next turn on.",
  inputSchema: {
    type: "object",
    properties: { name: { type: "string", description: "The id of the skill." } },
    required: ["name"],
  },
};

export class ActivateSkill implements MetaTool {
  readonly spec = ACTIVATE_SPEC;
  readonly #options: ActivateSkillOptions;
  readonly #active = new Map<string, ActiveSkill>();

  constructor(options: ActivateSkillOptions) {
    this.#options = options;
  }

  isActive(skillId: string): boolean {
    return this.#active.has(skillId);
  }

  async answer({ input }: Pick<LlmToolCall, "input">, stepId: string): Promise<MetaAnswer> {
    const { offered, maxActive } = this.#options;
    const { name } = (input ?? {}) as { readonly name?: unknown };
    if (typeof name !== "string" || !offered.has(name))
      return refusal("unknown_skill", "There is no skill of this name that could be taken up.");
    const active = this.#active.get(name);
    if (active) return this.#deliver(name, active, stepId);
    if (this.#active.size >= maxActive)
      return refusal(
        "skill_limit_reached",
        `${maxActive} skills are taken up, and there may be no more. Go on with those.`,
      );
    return this.#activate(name, stepId);
  }

  async #activate(skillId: string, stepId: string): Promise<MetaAnswer> {
    const { ctx, menu } = this.#options;
    const decisionId = `${stepId}:skill`;
    let isReplayed = true;
    const record = await ctx.decide(
      decisionId,
      () => {
        isReplayed = false;
        return this.#decide(skillId);
      },
      { source: ACTIVATION_SOURCE },
    );
    const { content } = record;
    if (record.verdict !== "activated") return { content, error: record.verdict, decisionId };
    const { digest } = record;
    this.#active.set(skillId, { digest, decisionId, content });
    menu.add(record.menu);
    if (isReplayed) this.#compareText(skillId, digest);
    return { content, decisionId };
  }

  async #decide(skill: string): Promise<SkillRecord> {
    const { menu, catalog, maxInstructionBytes } = this.#options;
    const definition = catalog.get(skill);
    const fetched = await fetchInstructions(definition, maxInstructionBytes);
    if ("refusal" in fetched) {
      const { refusal: verdict } = fetched;
      return { skill, verdict, content: errorText(verdict, EXPLAINED[verdict]) };
    }
    const { text, digest } = fetched;
    const content = JSON.stringify({ skill, instructions: text });
    return { skill, verdict: "activated", digest, content, menu: menu.offer(definition?.tools ?? []) };
  }

  /** K3 */
  async #deliver(skill: string, active: ActiveSkill, stepId: string): Promise<MetaAnswer> {
    const { ctx, catalog } = this.#options;
    const decisionId = `${stepId}:delivery`;
    const decider = async (): Promise<DeliveryRecord> => {
      const fetched = await fetchInstructions(catalog.get(skill), Infinity);
      if ("digest" in fetched && fetched.digest === active.digest) return { skill, verdict: "same" };
      const isThere = "digest" in fetched || fetched.refusal === "instructions_refused";
      const verdict = isThere ? "instructions_changed" : "instructions_unavailable";
      if (isThere) this.#warnChanged(skill);
      return { skill, verdict, content: errorText(verdict, EXPLAINED[verdict]) };
    };
    const { verdict, content } = await ctx.decide(decisionId, decider, { source: DELIVERY_SOURCE });
    if (content !== undefined) return { content, error: verdict, decisionId };
    return { content: active.content, decisionId: active.decisionId };
  }

  /** A text at hand is compared when a log is taken up again. One that would have to be fetched is not: a replay fetches nothing. */
  #compareText(skillId: string, digest: string): void {
    const { instructions } = this.#options.catalog.get(skillId) ?? {};
    if (typeof instructions === "string" && sha256(instructions) !== digest) this.#warnChanged(skillId);
  }

  #warnChanged(skillId: string): void {
    this.#options.warn(
      SKILL_CHANGED,
      `Skill ${skillId} has other instructions than those it was taken up with. The agent keeps the ones it has.`,
    );
  }
}

const EXPLAINED: Readonly<Record<InstructionsRefusal | "instructions_changed", string>> = {
  instructions_unavailable:
    "The instructions of this skill could not be fetched. Go on without, or try again later.",
  instructions_refused:
    "The instructions of this skill come from where nobody vouches for them. Go on without.",
  instructions_too_large: "The instructions of this skill are too long to be given. Go on without.",
  instructions_changed:
    "This skill has other instructions by now. Those you were given hold; its tools stay.",
};
