// Table: columns of text that fit the terminal.

import type { Colors } from "../terminal.js";
import { columns as columnsOf, cut, padEnd, padStart } from "./text.js";

export interface Column {
  readonly title: string;
  /** Plain text, one a row. */
  readonly cells: readonly string[];
  readonly align?: "left" | "right";
  /** Down to this many columns it may be cut when the table is too wide. Default: never. */
  readonly least?: number;
  /** Colours the padded text of a row. */
  readonly paint?: (text: string, row: number) => string;
}

const GAP = "  ";

/** The lines of a table, the titles first. Without a width nothing is cut. */
export function table(columns: readonly Column[], width: number | undefined, colors: Colors): string[] {
  const widths = fitted(columns, width);
  const rowCount = Math.max(0, ...columns.map(({ cells }) => cells.length));
  const lines = [line(columns, widths, ({ title }) => ({ text: title, paint: colors.dim }))];
  for (let row = 0; row < rowCount; row++) {
    lines.push(
      line(columns, widths, ({ cells, paint = plain }) => ({
        text: cells[row] ?? "",
        paint: (text) => paint(text, row),
      })),
    );
  }
  return lines;
}

/** The widest column that may shrink gives way first, one column of the terminal at a time. */
function fitted(columns: readonly Column[], width: number | undefined): number[] {
  const widths = columns.map(({ title, cells }) => Math.max(...[title, ...cells].map(columnsOf)));
  if (width === undefined) return widths;
  let excess = widths.reduce((sum, each) => sum + each, GAP.length * (columns.length - 1)) - width;
  while (excess > 0) {
    let widest: number | undefined;
    for (const [index, { least = Infinity }] of columns.entries()) {
      const mayShrink = widths[index]! > least;
      if (mayShrink && (widest === undefined || widths[index]! > widths[widest]!)) widest = index;
    }
    if (widest === undefined) return widths;
    widths[widest]!--;
    excess--;
  }
  return widths;
}

interface Cell {
  readonly text: string;
  readonly paint: (text: string) => string;
}

const plain = (text: string): string => text;

function line(columns: readonly Column[], widths: readonly number[], cell: (column: Column) => Cell): string {
  const last = columns.length - 1;
  const parts = columns.map((column, index) => {
    const { text, paint } = cell(column);
    const fitting = cut(text, widths[index]!);
    if (column.align === "right") return paint(padStart(fitting, widths[index]!));
    return paint(index === last ? fitting : padEnd(fitting, widths[index]!));
  });
  return parts.join(GAP).trimEnd();
}
