// Skills as searches see them: those that can be taken up, and are not yet.

import type { SkillDefinition } from "../../kernel/index.js";
import { Bm25ToolRanker } from "../search/bm25-tool-ranker.js";
import { RankerSource } from "../search/ranker-source.js";
import type { FindableSkills } from "../search/search-tools.js";
import type { ToolRanker, ToolRankerFactory } from "../search/tool-ranker.js";
import type { Warn } from "../warnings.js";
import { skillDoc } from "./skill-registry.js";

export interface FindableSkillsOptions {
  readonly skills: readonly SkillDefinition[];
  readonly isActive: (skillId: string) => boolean;
  readonly ranker: ToolRanker | ToolRankerFactory | undefined;
  readonly stopwords: readonly string[] | undefined;
  readonly warn: Warn;
}

export function findableSkills({
  skills,
  isActive,
  ranker,
  stopwords,
  warn,
}: FindableSkillsOptions): FindableSkills {
  const byId = new Map(skills.map((skill) => [skill.id, skill]));
  return {
    ranker: new RankerSource(
      ranker ?? ((docs) => new Bm25ToolRanker(docs, stopwords && { stopwords })),
      "skillActivation.skillRanker",
      () => skills.map(skillDoc),
      warn,
    ),
    count: byId.size,
    findable: () => new Set([...byId.keys()].filter((id) => !isActive(id))),
    descriptionOf: (id) => byId.get(id)?.description ?? "",
  };
}
