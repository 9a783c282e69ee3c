// Effects: what the steps `read` and `report` run, whichever thread that is in.

import { type Effect, ToolEffect } from "heddle";
import { readContents } from "./contents.js";
import { writeRowsTo } from "./report.js";

export function effectsOn(rows: string): Readonly<Record<string, Effect>> {
  return { read: new ToolEffect(readContents), report: writeRowsTo(rows) };
}
