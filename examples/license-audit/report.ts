// Report: one row a package, each in a file of its own.
//
// A step runs at least once. When the process dies after the file was written and before heddle could record that the
// step is done, the step runs again. So the execution names the file and the file appears whole or not at all: writing
// it twice leaves exactly what writing it once leaves.

import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ToolEffect } from "heddle";
import { z } from "zod";
import type { Approval } from "./approval.js";
import type { Verdict } from "./policy.js";

export const Row = z.object({
  /** The execution that wrote it. */
  id: z.string(),
  name: z.string(),
  version: z.string(),
  path: z.string(),
  license: z.string(),
  decision: z.enum(["allowed", "approved", "refused", "denied"]),
  reason: z.string(),
  files: z.number(),
  bytes: z.number(),
  sha256: z.string(),
});
export type Row = z.infer<typeof Row>;

/** A verdict, or the approval where the verdict asked for one. */
export type Decision = Pick<Row, "decision" | "license" | "reason">;

export function decided({ kind, license, reason }: Exclude<Verdict, { kind: "unusual" }>): Decision {
  return { decision: kind, license, reason };
}

export function decidedBy({ approved, by }: Approval, { license, reason }: Verdict): Decision {
  const decision = approved ? "approved" : "refused";
  return { decision, license, reason: `${reason}; ${decision} by ${by}` };
}

/** The effect behind the step `report`. */
export function writeRowsTo(directory: string): ToolEffect<Row, void> {
  return new ToolEffect(async (row: Row) => {
    const file = rowFile(directory, row.id);
    // Flushed, because heddle's log will be: what it calls done has to be on the disk as well.
    await writeFile(`${file}.new`, `${JSON.stringify(row, undefined, 2)}\n`, { flush: true });
    await rename(`${file}.new`, file);
  });
}

/** The rows of these executions, in their order. Executions without a row are left out. */
export async function readRows(directory: string, ids: readonly string[]): Promise<Row[]> {
  const rows: Row[] = [];
  for (const id of ids) {
    const text = await readFile(rowFile(directory, id), "utf8").catch(() => undefined);
    if (text !== undefined) rows.push(Row.parse(JSON.parse(text)));
  }
  return rows;
}

function rowFile(directory: string, id: string): string {
  return join(directory, `${id.replaceAll("/", "+")}.json`);
}
