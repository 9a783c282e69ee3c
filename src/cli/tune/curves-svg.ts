// Curves: panels of lines as an SVG document. Pure: text in, text out.
//
// Reads in light and in dark (the colours follow the reader's scheme), without colours (each line has a mark of its own),
// and without eyes (title and description).

export interface CurvePoint {
  readonly x: number;
  readonly y: number;
}

export interface Curve {
  readonly name: string;
  /** From left to right. */
  readonly points: readonly CurvePoint[];
}

export interface Panel {
  readonly title: string;
  readonly curves: readonly Curve[];
  /** Logarithmic, for what spans orders of magnitude. */
  readonly isLog?: boolean;
  readonly label: (y: number) => string;
}

export interface Drawing {
  readonly title: string;
  readonly subtitle: string;
  readonly xLabel: string;
  readonly panels: readonly Panel[];
}

const PANEL = { width: 380, height: 330, left: 62, right: 18, top: 92, bottom: 48 };
const PLOT_WIDTH = PANEL.width - PANEL.left - PANEL.right;
const PLOT_HEIGHT = PANEL.height - PANEL.top - PANEL.bottom;
const TICKS = 5;

interface Palette {
  readonly ink: string;
  readonly faint: string;
  readonly grid: string;
  readonly back: string;
  /** Of the lines, in their order. */
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
const COLORS = LIGHT.lines.length;

/** Plain rules, without variables: many programs that show SVG know no more of CSS. */
function rules({ ink, faint, grid, back, lines }: Palette): string {
  const marks = lines.flatMap((color, index) => [`.m${index}{fill:${color}}`, `.l${index}{stroke:${color}}`]);
  return [`text{fill:${ink}}.faint{fill:${faint}}.grid{stroke:${grid}}.back{fill:${back}}`, ...marks].join(
    "",
  );
}

const STYLE = [
  "text{font:12px system-ui,sans-serif}.line{fill:none;stroke-width:2}",
  "text.title{font-size:15px;font-weight:600}text.panel{font-weight:600}",
  rules(LIGHT),
  `@media(prefers-color-scheme:dark){${rules(DARK)}}`,
].join("\n");

export function curvesSvg({ title, subtitle, xLabel, panels }: Drawing): string {
  const width = PANEL.width * panels.length;
  const names = [...new Set(panels.flatMap(({ curves }) => curves.map(({ name }) => name)))];
  const described = panels.flatMap(({ title, curves, label }) => {
    return curves.map(({ name, points }) => {
      return `${title}, ${name}: ${points.map(({ x, y }) => `${label(y)} at ${x}`).join(", ")}.`;
    });
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${PANEL.height}" width="${width}" height="${PANEL.height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<desc>${escaped(described.join(" "))}</desc>`,
    `<style>\n${STYLE}\n</style>`,
    `<rect class="back" width="100%" height="100%"/>`,
    text(16, 24, title, `class="title"`),
    text(16, 43, subtitle, `class="faint"`),
    ...legend(names),
    ...panels.flatMap((panel, index) => panelParts(panel, index * PANEL.width, names, xLabel)),
    "</svg>",
    "",
  ].join("\n");
}

function legend(names: readonly string[]): string[] {
  let x = 16;
  return names.flatMap((name, index) => {
    const at = x;
    x += 34 + name.length * 7;
    return [mark(index, at + 6, 58), text(at + 16, 62, name)];
  });
}

function panelParts(panel: Panel, offset: number, names: readonly string[], xLabel: string): string[] {
  const { curves, isLog = false, label, title } = panel;
  const points = curves.flatMap(({ points }) => points);
  const xs = [...new Set(points.map(({ x }) => x))].sort((a, b) => a - b);
  const x = scale([Math.log2(xs[0] ?? 1), Math.log2(xs.at(-1) ?? 1)], [offset + PANEL.left, PLOT_WIDTH]);
  const ticks = isLog ? decades(points) : steps(points);
  const least = ticks[0] ?? 0;
  // Zero has no logarithm: it lies on the lowest line.
  const measure = (value: number): number => (isLog ? Math.log10(Math.max(value, least)) : value);
  const y = scale([measure(least), measure(ticks.at(-1) ?? 1)], [PANEL.top + PLOT_HEIGHT, -PLOT_HEIGHT]);
  const left = offset + PANEL.left;
  const bottom = PANEL.top + PLOT_HEIGHT;
  return [
    text(left, PANEL.top - 10, title, `class="panel"`),
    ...ticks.flatMap((tick) => {
      const at = y(measure(tick));
      return [
        `<path class="grid" d="M${left} ${round(at)}h${PLOT_WIDTH}"/>`,
        text(left - 8, at + 4, label(tick), `class="faint" text-anchor="end"`),
      ];
    }),
    ...xs.map((tick) =>
      text(x(Math.log2(tick)), bottom + 18, String(tick), `class="faint" text-anchor="middle"`),
    ),
    text(left + PLOT_WIDTH / 2, bottom + 38, xLabel, `class="faint" text-anchor="middle"`),
    ...curves.flatMap(({ name, points }) => {
      const index = names.indexOf(name);
      const placed = points.map((point) => [x(Math.log2(point.x)), y(measure(point.y))] as const);
      const path = placed.map(([px, py]) => `${round(px)} ${round(py)}`).join("L");
      const line = `<path class="line l${index % COLORS}" d="M${path}"/>`;
      return [line, ...placed.map(([px, py]) => mark(index, px, py))];
    }),
  ];
}

/** A mark for each line: circle, square, diamond, triangle. */
function mark(index: number, x: number, y: number): string {
  const fill = `class="m${index % COLORS}"`;
  const at = (dx: number, dy: number): string => `${round(x + dx)} ${round(y + dy)}`;
  const shapes = [
    `<circle cx="${round(x)}" cy="${round(y)}" r="4" ${fill}/>`,
    `<path d="M${at(-4, -4)}h8v8h-8z" ${fill}/>`,
    `<path d="M${at(0, -5)}L${at(5, 0)}L${at(0, 5)}L${at(-5, 0)}z" ${fill}/>`,
    `<path d="M${at(0, -5)}L${at(5, 4)}L${at(-5, 4)}z" ${fill}/>`,
  ];
  return shapes[index % shapes.length] as string;
}

type Scale = (value: number) => number;

/** A single value lies in the middle. */
function scale([from, to]: readonly [number, number], [start, length]: readonly [number, number]): Scale {
  return (value) => start + length * (to === from ? 0.5 : (value - from) / (to - from));
}

/** From 0, in round steps. */
function steps(points: readonly CurvePoint[]): number[] {
  const most = Math.max(1e-9, ...points.map(({ y }) => y));
  const rough = most / TICKS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
  return Array.from({ length: Math.ceil(most / step - 1e-9) + 1 }, (_, index) => index * step);
}

/** Powers of ten around all values. */
function decades(points: readonly CurvePoint[]): number[] {
  const values = points.map(({ y }) => y).filter((y) => y > 0);
  const first = Math.floor(Math.log10(Math.min(...values)));
  const last = Math.max(first + 1, Math.ceil(Math.log10(Math.max(...values))));
  return values.length === 0
    ? [1, 10]
    : Array.from({ length: last - first + 1 }, (_, index) => 10 ** (first + index));
}

function text(x: number, y: number, words: string, attributes = ""): string {
  return `<text x="${round(x)}" y="${round(y)}" ${attributes}>${escaped(words)}</text>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** What XML cannot hold at all is left out. */
function escaped(words: string): string {
  return words
    .replaceAll(/\p{Cc}/gu, "")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}
