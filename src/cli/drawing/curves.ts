// Curves: panels of lines as an SVG document.
//
// Reads without colours too: each line has a mark of its own, and one that only stands beside the others is dashed.

import { decades, scale, steps } from "./scale.js";
import { below, COLORS, MARGIN, round, svg, text } from "./svg.js";

export interface CurvePoint {
  readonly x: number;
  readonly y: number;
  /** How far it may be off, to either side. Default: not said. */
  readonly error?: number;
}

export interface Curve {
  readonly name: string;
  /** From left to right. */
  readonly points: readonly CurvePoint[];
  /** Not measured here. */
  readonly isReference?: boolean;
}

export interface Panel {
  readonly title: string;
  readonly curves: readonly Curve[];
  /** Logarithmic, for what spans orders of magnitude. */
  readonly isLog?: boolean;
  readonly label: (y: number) => string;
  /** Default: of the drawing. */
  readonly xLabel?: string;
  /** Default: doublings, with the values of the points. */
  readonly x?: Axis;
}

export interface Axis {
  /** From left to right. */
  readonly ticks: readonly number[];
  readonly label: (x: number) => string;
  /** Equal distances on paper for what is equally far apart. */
  readonly measure: (x: number) => number;
}

export interface Drawing {
  readonly title: string;
  readonly subtitle: string | readonly string[];
  readonly xLabel: string;
  readonly panels: readonly Panel[];
  /** Panels beside each other. Default: all. */
  readonly columns?: number;
}

const PANEL = { width: 388, left: 62, right: 26, top: 30, bottom: 48 };
const LEGEND_HEIGHT = 20;
/** Room for what stands under the title. */
const WIDTH_MIN = 560;
const PLOT_WIDTH = PANEL.width - PANEL.left - PANEL.right;
const PLOT_HEIGHT = 190;
const PANEL_HEIGHT = PANEL.top + PLOT_HEIGHT + PANEL.bottom;
/** Marks that would run into each other are left out. */
const MARKS_MAX = 24;
const MARK_WIDTH = 34;
const LETTER_WIDTH = 7;

export function curvesSvg({ title, subtitle, xLabel, panels, columns = panels.length }: Drawing): string {
  const lines = typeof subtitle === "string" ? [subtitle] : subtitle;
  const width = Math.max(WIDTH_MIN, PANEL.width * Math.min(columns, panels.length));
  const names = [...new Set(panels.flatMap(({ curves }) => curves.map(({ name }) => name)))];
  const described = panels.flatMap(({ title, curves, label, x }) => {
    return curves.map(({ name, points }) => {
      const at = (value: number): string => x?.label(value) ?? String(value);
      return `${title}, ${name}: ${points.map(({ x, y }) => `${label(y)} at ${at(x)}`).join(", ")}.`;
    });
  });
  const legendTop = below(lines) + 18;
  const { parts, height: legendHeight } = legend(names, legendTop, width);
  const top = legendTop + legendHeight - 12;
  return svg({
    width,
    height: top + PANEL_HEIGHT * Math.ceil(panels.length / Math.max(1, columns)),
    title,
    subtitle: lines,
    description: described.join(" "),
    body: [
      ...parts,
      ...panels.flatMap((panel, index) => {
        const left = PANEL.width * (index % columns);
        return panelParts(panel, left, top + PANEL_HEIGHT * Math.floor(index / columns), names, xLabel);
      }),
    ],
  });
}

/** In as many lines as it needs. */
function legend(
  names: readonly string[],
  top: number,
  width: number,
): { readonly parts: string[]; readonly height: number } {
  let x = MARGIN;
  let y = top;
  const parts = names.flatMap((name, index) => {
    const length = MARK_WIDTH + name.length * LETTER_WIDTH;
    if (x > MARGIN && x + length > width) {
      x = MARGIN;
      y += LEGEND_HEIGHT;
    }
    const at = x;
    x += length;
    return [mark(index, at + 6, y - 4), text(at + 16, y, name)];
  });
  return { parts, height: y - top + LEGEND_HEIGHT };
}

function panelParts(
  panel: Panel,
  offset: number,
  panelTop: number,
  names: readonly string[],
  xLabel: string,
): string[] {
  const { curves, isLog = false, label, title } = panel;
  const points = curves.flatMap(({ points }) => points);
  const axis = panel.x ?? doublings(points);
  const left = offset + PANEL.left;
  const top = panelTop + PANEL.top;
  const bottom = top + PLOT_HEIGHT;
  const ends = [axis.ticks[0] ?? 1, axis.ticks.at(-1) ?? 1].map(axis.measure) as [number, number];
  const acrossMeasured = scale(ends, [left, PLOT_WIDTH]);
  const x = (value: number): number => acrossMeasured(axis.measure(value));
  const values = points.flatMap(({ y, error = 0 }) => [y + error, ...(y > error ? [y - error] : [y])]);
  const ticks = isLog ? decades(values) : steps(values);
  const least = ticks[0] ?? 0;
  // Zero has no logarithm: it lies on the lowest line.
  const measure = (value: number): number => (isLog ? Math.log10(Math.max(value, least)) : value);
  const upMeasured = scale([measure(least), measure(ticks.at(-1) ?? 1)], [bottom, -PLOT_HEIGHT]);
  const y = (value: number): number => upMeasured(measure(value));
  return [
    text(left, top - 10, title, `class="panel"`),
    ...ticks.flatMap((tick) => [
      `<path class="grid" d="M${left} ${round(y(tick))}h${PLOT_WIDTH}"/>`,
      text(left - 8, y(tick) + 4, label(tick), `class="faint" text-anchor="end"`),
    ]),
    ...axis.ticks.map((tick) =>
      text(x(tick), bottom + 18, axis.label(tick), `class="faint" text-anchor="middle"`),
    ),
    text(left + PLOT_WIDTH / 2, bottom + 38, panel.xLabel ?? xLabel, `class="faint" text-anchor="middle"`),
    ...curves.flatMap((curve) => curveParts(curve, names.indexOf(curve.name), x, y)),
  ];
}

function curveParts(
  { points, isReference = false }: Curve,
  index: number,
  x: (value: number) => number,
  y: (value: number) => number,
): string[] {
  const color = `l${index % COLORS}`;
  const path = points.map((point) => `${round(x(point.x))} ${round(y(point.y))}`).join("L");
  const errors = points.flatMap((point) => {
    if (!point.error) return [];
    const [low, high] = [y(point.y - point.error), y(point.y + point.error)];
    return [`<path class="${color}" d="M${round(x(point.x))} ${round(low)}V${round(high)}"/>`];
  });
  const marks = points.length > MARKS_MAX ? [] : points.map((point) => mark(index, x(point.x), y(point.y)));
  return [`<path class="line ${color}${isReference ? " dashed" : ""}" d="M${path}"/>`, ...errors, ...marks];
}

function doublings(points: readonly CurvePoint[]): Axis {
  const ticks = [...new Set(points.map(({ x }) => x))].sort((a, b) => a - b);
  return { ticks, label: String, measure: Math.log2 };
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
