// Ratio bars: every row as a bar from 1, where both sides are equal, to its ratio. A target is a mark, the deviation a whisker.

import { scale } from "../../src/cli/drawing/scale.js";
import { below, MARGIN, type Palette, round, svg, text } from "../../src/cli/drawing/svg.js";
import { isTargetMet, isTime, type Report, type Row } from "../harness/report.js";
import { captionOf } from "./caption.js";

const NAMES_WIDTH = 220;
const BARS_WIDTH = 470;
const WORDS_WIDTH = 480;
const WIDTH = MARGIN + NAMES_WIDTH + BARS_WIDTH + WORDS_WIDTH;
const BARS_LEFT = MARGIN + NAMES_WIDTH;
const ROW_HEIGHT = 21;
const BAR_HEIGHT = 11;
const HEAD_HEIGHT = 34;
const FOOT_HEIGHT = 34;
const LEGEND_HEIGHT = 26;
const TICKS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000];

interface Group {
  readonly title: string;
  readonly rows: readonly Row[];
}

export function ratioBars(report: Report): string {
  const subtitle = captionOf(report);
  const groups: Group[] = [
    { title: "Rates: further right is better", rows: report.rows.filter((row) => !isTime(row)) },
    { title: "Times and sizes: further left is better", rows: report.rows.filter(isTime) },
  ].filter(({ rows }) => rows.length > 0);
  const x = across(report.rows);
  const legendTop = below(subtitle) + 22;
  let top = legendTop + LEGEND_HEIGHT - 10;
  const body = groups.flatMap((group) => {
    const parts = groupParts(group, top, x);
    top += HEAD_HEIGHT + group.rows.length * ROW_HEIGHT + FOOT_HEIGHT;
    return parts;
  });
  return svg({
    width: WIDTH,
    height: top,
    title: "heddle beside what each row is measured against, as ratios of the same run",
    subtitle,
    description: report.rows.map((row) => `${row.id}: ${wordsOf(row)}.`).join(" "),
    rules,
    body: [...legend(legendTop), ...body],
  });
}

interface Across {
  readonly at: (ratio: number) => number;
  readonly ticks: readonly number[];
}

function across(rows: readonly Row[]): Across {
  const values = rows
    .flatMap(({ ratio, target }) => [ratio.median, target?.ratio ?? 1])
    .filter((value) => value > 0);
  const least = TICKS.findLast((tick) => tick <= Math.min(0.5, ...values) / 1.05) ?? 0.01;
  const most = TICKS.find((tick) => tick >= Math.max(2, ...values) * 1.05) ?? 1_000;
  const place = scale([Math.log(least), Math.log(most)], [BARS_LEFT, BARS_WIDTH]);
  return {
    at: (ratio) => place(Math.log(Math.min(most, Math.max(least, ratio)))),
    ticks: TICKS.filter((tick) => tick >= least && tick <= most),
  };
}

function groupParts({ title, rows }: Group, top: number, x: Across): string[] {
  const begin = top + HEAD_HEIGHT;
  const length = rows.length * ROW_HEIGHT;
  return [
    text(MARGIN, top + 20, title, `class="panel"`),
    text(BARS_LEFT + BARS_WIDTH + 14, top + 20, "ratio, deviation; durability; target", `class="faint"`),
    ...x.ticks.flatMap((tick) => [
      `<path class="grid${tick === 1 ? " one" : ""}" d="M${round(x.at(tick))} ${begin - 4}v${length + 6}"/>`,
      text(x.at(tick), begin + length + 17, String(tick), `class="faint" text-anchor="middle"`),
    ]),
    ...rows.flatMap((row, index) => rowParts(row, begin + index * ROW_HEIGHT, x)),
  ];
}

function rowParts(row: Row, top: number, { at }: Across): string[] {
  const { ratio, target, id } = row;
  const middle = top + ROW_HEIGHT / 2;
  const [from, to] = [at(1), at(ratio.median)].sort((a, b) => a - b) as [number, number];
  const low = round(at(ratio.median - ratio.mad));
  const high = round(at(ratio.median + ratio.mad));
  const barTop = round(middle - BAR_HEIGHT / 2);
  const parts = [
    text(BARS_LEFT - 10, middle + 4, id, `text-anchor="end"`),
    `<rect class="${classOf(row)}" x="${round(from)}" y="${barTop}" width="${round(Math.max(1, to - from))}" height="${BAR_HEIGHT}" rx="2"/>`,
    `<path class="whisker" d="M${low} ${middle}H${high}M${low} ${middle - 3}v6M${high} ${middle - 3}v6"/>`,
    text(BARS_LEFT + BARS_WIDTH + 14, middle + 4, wordsOf(row)),
  ];
  if (target?.ratio !== undefined) parts.push(targetMark(at(target.ratio), middle));
  return parts;
}

function targetMark(x: number, middle: number): string {
  return `<path class="target" d="M${round(x)} ${middle - 9}v18"/>`;
}

function classOf(row: Row): string {
  const isHeld = isTargetMet(row);
  return isHeld === undefined ? "m0" : isHeld ? "m2" : "m1";
}

/** "0.61 ± 0.02; flush; target 0.60 held" */
function wordsOf(row: Row): string {
  const { ratio, sync, target, against, heddle, unit } = row;
  const parts = [`${ratio.median.toFixed(2)} ± ${ratio.mad.toFixed(2)} of ${against.name}`];
  if (sync !== "none") parts.push(sync);
  if (target) {
    const bounds = [
      ...(target.ratio === undefined ? [] : [target.ratio.toFixed(2)]),
      ...(target.median === undefined
        ? []
        : [`${target.median.toLocaleString("en")} ${unit} (${short(heddle.median)})`]),
    ];
    parts.push(`${isTargetMet(row) === true ? "held" : "missed"}: ${bounds.join(" or ")}`);
  }
  return parts.join("; ");
}

function short(value: number): string {
  return value.toLocaleString("en", { maximumSignificantDigits: 3 });
}

const LEGEND = [
  ["m2", "target held"],
  ["m1", "target missed"],
  ["m0", "no target"],
] as const;

function legend(top: number): string[] {
  const parts = LEGEND.flatMap(([name, words], index) => [
    `<rect class="${name}" x="${MARGIN + index * 120}" y="${top - 10}" width="12" height="${BAR_HEIGHT}" rx="2"/>`,
    text(MARGIN + 18 + index * 120, top, words),
  ]);
  const left = MARGIN + LEGEND.length * 120;
  return [
    ...parts,
    targetMark(left + 6, top - 4),
    text(left + 16, top, "target of the ratio"),
    `<path class="whisker" d="M${left + 150} ${top - 4}h20M${left + 150} ${top - 7}v6M${left + 170} ${top - 7}v6"/>`,
    text(left + 178, top, "median absolute deviation between rounds"),
  ];
}

function rules({ ink, faint }: Palette): string {
  return `.whisker{stroke:${ink};fill:none}.target{stroke:${ink};stroke-width:3}.one{stroke:${faint}}`;
}
