// Data: the directory of one triage.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { claimFor, type DataDirectory, dataIn } from "../shared/data.js";

export interface TriageData extends DataDirectory {
  /** What the agent proposes, one file a change. */
  readonly proposals: string;
}

/** Opens the data of a triage of `tree`, and makes what is missing. Undefined when it holds that of another tree. */
export function openData(dir: string, tree: string): TriageData | undefined {
  const data = { ...dataIn(dir), proposals: join(dir, "proposals") };
  mkdirSync(data.proposals, { recursive: true });
  return claimFor(tree, data) ? data : undefined;
}
