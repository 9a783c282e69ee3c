// Data: the directory of one audit.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { claimFor, type DataDirectory, dataIn } from "../shared/data.js";

export interface AuditData extends DataDirectory {
  /** The rows of the report. */
  readonly rows: string;
}

/** Where what is in it. */
export function partsOf(dir: string): AuditData {
  return { ...dataIn(dir), rows: join(dir, "rows") };
}

/** Opens the data of an audit of `tree`, and makes what is missing. Undefined when it holds an audit of another tree. */
export function openData(dir: string, tree: string): AuditData | undefined {
  const data = partsOf(dir);
  mkdirSync(data.rows, { recursive: true });
  return claimFor(tree, data) ? data : undefined;
}
