// The table of `heddle doubts`.

import type { Doubt } from "../doubts.js";
import type { TableLayout } from "./executions.js";
import { type Column, table } from "./table.js";
import { printable } from "./text.js";
import { age, moment } from "./time.js";
import { shortValue } from "./value.js";

const CELL_WIDTH_MIN = 12;
const INPUT_CHARS_MAX = 60;

export function doubtsTable(doubts: readonly Doubt[], { colors, width, now }: TableLayout): string[] {
  const column = (title: string, cellOf: (doubt: Doubt) => string): Column => {
    return { title, cells: doubts.map((doubt) => printable(cellOf(doubt))) };
  };
  return table(
    [
      { ...column("ID", ({ executionId }) => executionId), least: CELL_WIDTH_MIN },
      { ...column("STEP", ({ stepId }) => stepId), least: CELL_WIDTH_MIN },
      { ...column("TOOL", ({ toolId }) => toolId), least: CELL_WIDTH_MIN },
      { ...column("ATTEMPT", ({ attempt }) => String(attempt)), align: "right" },
      { ...column("AGE", ({ since }) => age(now - since)), align: "right" },
      column("SINCE (UTC)", ({ since }) => moment(since)),
      { ...column("INPUT", ({ input }) => shortValue(input, INPUT_CHARS_MAX)), least: CELL_WIDTH_MIN },
    ],
    width,
    colors,
  );
}
