// Executions: the table of `heddle ls`, and the same as JSON.

import type { ExecutionHeader } from "../../kernel/store/spi.js";
import type { Colors } from "../terminal.js";
import { jsonLine } from "./json.js";
import { statusPaint, statusWords } from "./status.js";
import { type Column, table } from "./table.js";
import { cut, printable } from "./text.js";
import { age, moment } from "./time.js";

/** An execution with its position now: its header tells that of its last change of status. */
export interface ExecutionRow {
  readonly header: ExecutionHeader;
  readonly sequence: number;
  readonly updatedAt: number;
}

export interface TableLayout {
  readonly colors: Colors;
  readonly width: number | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** From this many columns on there is room for the full time of starting. */
const WIDE = 110;
const CELL_WIDTH_MIN = 12;

export function executionsTable(
  rows: readonly ExecutionRow[],
  { colors, width, now }: TableLayout,
): string[] {
  const column = (title: string, cellOf: (row: ExecutionRow) => string): Column => {
    return { title, cells: rows.map((row) => printable(cellOf(row))) };
  };
  const columns: Column[] = [
    { ...column("ID", ({ header }) => header.id), least: CELL_WIDTH_MIN },
    { ...column("FLOW", ({ header }) => `${header.flowId}@${header.flowVersion}`), least: CELL_WIDTH_MIN },
    {
      ...column("STATUS", ({ header }) => statusWords(header.status)),
      paint: (text, row) => statusPaint(rows[row]!.header.status, colors)(text),
    },
    { ...column("SEQ", ({ sequence }) => String(sequence)), align: "right" },
    { ...column("AGE", ({ header }) => age(now - header.createdAt)), align: "right" },
    { ...column("IDLE", ({ updatedAt }) => age(now - updatedAt)), align: "right" },
  ];
  if (width === undefined || width >= WIDE) {
    columns.push(column("STARTED (UTC)", ({ header }) => moment(header.createdAt)));
  }
  const [titles = "", ...lines] = table(columns, width, colors);
  return [
    titles,
    ...rows.flatMap(({ header }, index) => [lines[index]!, ...asideLines(header, width, colors)]),
  ];
}

export function executionJson({ header, sequence, updatedAt }: ExecutionRow): string {
  const { id, flowId, flowVersion, status, createdAt, aside } = header;
  const reason = aside && { aside };
  return jsonLine({ id, flowId, flowVersion, status, sequence, createdAt, updatedAt, ...reason });
}

function asideLines({ aside }: ExecutionHeader, width: number | undefined, colors: Colors): string[] {
  if (!aside) return [];
  return [colors.dim(cut(`  ${printable(`${aside.code}: ${aside.message}`)}`, width ?? Infinity))];
}
