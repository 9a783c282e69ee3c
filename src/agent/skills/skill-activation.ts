// Options of skillActivation, checked and filled up.

import type { SkillDefinition } from "../../kernel/index.js";
import { AgentLoopConfigError } from "../errors.js";
import { checkOptions, type RuleTable, rules } from "../option-rules.js";
import { rankerComplaint } from "../search/ranker-source.js";
import type { ToolRanker, ToolRankerFactory } from "../search/tool-ranker.js";
import { skillIndex } from "./skill-index.js";

/** Skills that a model takes up while it works. */
export interface SkillActivationOptions {
  /** What can be taken up: all of these are within reach of the model. Default: the skills of the loop, all of them. */
  readonly catalog?: readonly SkillDefinition[];
  /** Skills taken up in one run; those chosen before it do not count. Default 5. */
  readonly maxActive?: number;
  /** Skills the index lists, the first by id. Default 50. */
  readonly maxIndex?: number;
  /** Of the index, in UTF-8. Default 8,192. */
  readonly maxIndexBytes?: number;
  /** Of the instructions of one skill, in UTF-8. Default 32,768. */
  readonly maxInstructionBytes?: number;
  /**
   * How the model finds skills. "index": it is told of those that the index has room for, and no others can be taken up. "search":
   * search_tools finds them, which takes `toolSearch`. "both". Default "index".
   */
  readonly discovery?: "index" | "search" | "both";
  /** What finds skills. Its answers are recorded. Default: Bm25ToolRanker. */
  readonly skillRanker?: ToolRanker | ToolRankerFactory;
}

export type SkillActivationSettings = SkillActivationOptions &
  Required<Omit<SkillActivationOptions, "skillRanker">>;

const RULES: RuleTable<SkillActivationOptions> = {
  catalog: rules.skills,
  maxActive: rules.count(1),
  maxIndex: rules.count(1),
  maxIndexBytes: rules.count(1),
  maxInstructionBytes: rules.count(1),
  discovery: rules.oneOf("index", "search", "both"),
  skillRanker: rankerComplaint,
};

/**
 * @param skills of the loop
 * @param hasSearch whether the loop has `toolSearch`
 * @throws AgentLoopConfigError, naming the option
 */
export function readSkillActivation(
  options: SkillActivationOptions,
  skills: readonly SkillDefinition[] | undefined,
  hasSearch: boolean,
): SkillActivationSettings {
  checkOptions("skillActivation", options, RULES, "skillActivation.");
  const { catalog = skills, discovery = "index", skillRanker } = options;
  if (!catalog)
    throw new AgentLoopConfigError(
      "skillActivation.catalog",
      "is missing, and the loop has no skills either",
    );
  if (discovery !== "index" && !hasSearch)
    throw new AgentLoopConfigError("skillActivation.discovery", `is "${discovery}", which takes toolSearch`);
  if (discovery === "index" && skillRanker)
    throw new AgentLoopConfigError(
      "skillActivation.skillRanker",
      'ranks searches: give discovery "search" or "both"',
    );
  const { maxIndex = 50, maxIndexBytes = 8 * 1024 } = options;
  if (
    discovery === "index" &&
    catalog.length > 0 &&
    skillIndex(catalog, maxIndex, maxIndexBytes).listed.length === 0
  )
    throw new AgentLoopConfigError(
      "skillActivation.maxIndexBytes",
      "has room for no skill, so none could be taken up",
    );
  return {
    ...options,
    catalog,
    discovery,
    maxActive: options.maxActive ?? 5,
    maxIndex,
    maxIndexBytes,
    maxInstructionBytes: options.maxInstructionBytes ?? 32 * 1024,
  };
}
