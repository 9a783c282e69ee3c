// Svg: documents that read in light and in dark (the colours follow the reader's scheme), and without eyes (title and
// description). Pure: text in, text out.

export interface Page {
  readonly width: number;
  readonly height: number;
  readonly title: string;
  /** Lines under the title. */
  readonly subtitle: readonly string[];
  /** What the drawing says, for those who cannot see it. */
  readonly description: string;
  /** Rules of its own, for a scheme. */
  readonly rules?: (palette: Palette) => string;
  readonly body: readonly string[];
}

export interface Palette {
  readonly ink: string;
  readonly faint: string;
  readonly grid: string;
  readonly back: string;
  /** Of lines and bars, in their order. */
  readonly lines: readonly string[];
}

const LIGHT: Palette = {
  ink: "#1f2328",
  faint: "#59636e",
  grid: "#d1d9e0",
  back: "#ffffff",
  lines: ["#0969da", "#bc4c00", "#1a7f37", "#8250df", "#bf3989", "#7d4e00"],
};
const DARK: Palette = {
  ink: "#f0f6fc",
  faint: "#9198a1",
  grid: "#3d444d",
  back: "#0d1117",
  lines: ["#4493f8", "#f0883e", "#3fb950", "#ab7df8", "#f778ba", "#d29922"],
};
export const COLORS = LIGHT.lines.length;

export const MARGIN = 16;

const STYLE = [
  "text{font:12px system-ui,sans-serif}.line{fill:none;stroke-width:2}.dashed{stroke-dasharray:5 4}",
  "text.title{font-size:15px;font-weight:600}text.panel{font-weight:600}",
].join("\n");

export function svg({ width, height, title, subtitle, description, rules, body }: Page): string {
  const scheme = (palette: Palette): string => usualRules(palette) + (rules?.(palette) ?? "");
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<desc>${escaped(description)}</desc>`,
    `<style>\n${STYLE}\n${scheme(LIGHT)}\n@media(prefers-color-scheme:dark){${scheme(DARK)}}\n</style>`,
    `<rect class="back" width="100%" height="100%"/>`,
    text(MARGIN, 24, title, `class="title"`),
    ...subtitle.map((line, index) => text(MARGIN, 43 + index * 16, line, `class="faint"`)),
    ...body,
    "</svg>",
    "",
  ].join("\n");
}

/** Where what is under the title and so many lines may begin. */
export function below(subtitle: readonly string[]): number {
  return 27 + subtitle.length * 16;
}

/** Plain rules, without variables: many programs that show SVG know no more of CSS. */
function usualRules({ ink, faint, grid, back, lines }: Palette): string {
  const marks = lines.flatMap((color, index) => [`.m${index}{fill:${color}}`, `.l${index}{stroke:${color}}`]);
  return [`text{fill:${ink}}.faint{fill:${faint}}.grid{stroke:${grid}}.back{fill:${back}}`, ...marks].join(
    "",
  );
}

export function text(x: number, y: number, words: string, attributes = ""): string {
  return `<text x="${round(x)}" y="${round(y)}" ${attributes}>${escaped(words)}</text>`;
}

export function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** What XML cannot hold at all is left out. */
export function escaped(words: string): string {
  return words
    .replaceAll(/\p{Cc}/gu, "")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}
