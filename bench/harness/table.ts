// Table: rows of words under headings, aligned for a terminal or as Markdown.

export type TableStyle = "text" | "markdown";

export interface Column<T> {
  readonly heading: string;
  readonly align: "left" | "right";
  readonly cell: (row: T) => string;
}

export function renderTable<T>(columns: readonly Column<T>[], rows: readonly T[], style: TableStyle): string {
  const cells = rows.map((row) => columns.map(({ cell }) => cell(row)));
  const headings = columns.map(({ heading }) => heading);
  const widths = columns.map((_, i) => Math.max(...[headings, ...cells].map((line) => line[i]?.length ?? 0)));
  const pad = (text: string, i: number): string => {
    const width = widths[i] ?? 0;
    return columns[i]?.align === "right" ? text.padStart(width) : text.padEnd(width);
  };
  const rule = widths.map((width, i) => {
    const dashes = "-".repeat(width);
    return style === "markdown" && columns[i]?.align === "right" ? `${dashes.slice(1)}:` : dashes;
  });
  const lines = [headings.map(pad), rule, ...cells.map((line) => line.map(pad))];
  return lines
    .map((line) => (style === "markdown" ? `| ${line.join(" | ")} |` : line.join("  ").trimEnd()))
    .join("\n");
}
