// Flame graph: a call tree as a picture. Callers stand above what they call, as wide as it took; a pointer on one tells all of it.

import { below, escaped, MARGIN, round, svg, text } from "../../src/cli/drawing/svg.js";
import { type Call, type Owner, sumOf } from "./call-tree.js";

const WIDTH = 1_160;
const ROOM = WIDTH - 2 * MARGIN;
const ROW_HEIGHT = 17;
const LETTER_WIDTH = 6.1;
const LEGEND_HEIGHT = 30;
/** Share of the whole below which a call is left out: nobody sees it. */
const SHARE_MIN = 0.003;
const LABEL_WIDTH_MIN = 30;

const OWNERS: readonly (readonly [owner: Owner, color: number, words: string])[] = [
  ["heddle", 1, "heddle"],
  ["bench", 0, "the bench and its flow"],
  ["package", 3, "packages (lmdb, msgpackr, zod, ...)"],
  ["node", 2, "Node"],
  ["engine", 5, "collections, native code, idle"],
];

export interface FlameOptions {
  readonly title: string;
  readonly subtitle: readonly string[];
}

export function flameGraph(calls: readonly Call[], { title, subtitle }: FlameOptions): string {
  const whole = sumOf(calls);
  const legendTop = below(subtitle) + 20;
  const top = legendTop + LEGEND_HEIGHT - 14;
  const parts: string[] = [];
  let depthMost = 0;
  const draw = (calls: readonly Call[], left: number, depth: number): void => {
    let x = left;
    for (const call of calls) {
      const width = (call.totalUs / whole) * ROOM;
      if (call.totalUs / whole < SHARE_MIN) break; // The longest come first.
      depthMost = Math.max(depthMost, depth);
      parts.push(box(call, x, top + depth * ROW_HEIGHT, width, whole));
      draw(call.calls, x, depth + 1);
      x += width;
    }
  };
  draw(calls, MARGIN, 0);
  return svg({
    width: WIDTH,
    height: top + (depthMost + 1) * ROW_HEIGHT + MARGIN,
    title,
    subtitle,
    description: calls
      .slice(0, 10)
      .map((call) => words(call, whole))
      .join(" "),
    rules,
    body: [...legend(legendTop), ...parts],
  });
}

function box(call: Call, x: number, y: number, width: number, whole: number): string {
  const color = OWNERS.find(([owner]) => owner === call.owner)?.[1] ?? 0;
  const letters = Math.floor((width - 6) / LETTER_WIDTH);
  const name = call.name.length <= letters ? call.name : `${call.name.slice(0, letters - 1)}…`;
  const label = width < LABEL_WIDTH_MIN ? "" : text(x + 3, y + 12, name, `class="f"`);
  const shape = `<rect class="m${color} b" x="${round(x)}" y="${y}" width="${round(Math.max(width - 0.5, 0.5))}" height="${ROW_HEIGHT - 1}"/>`;
  return `<g><title>${escaped(words(call, whole))}</title>${shape}${label}</g>`;
}

/** "advance, src/actors/pass.ts:12: 12.1 % (240 ms), itself 1.0 %" */
function words({ name, where, totalUs, selfUs }: Call, whole: number): string {
  const share = (us: number): string => `${((us / whole) * 100).toFixed(1)} %`;
  const place = where === name ? name : `${name}, ${where}`;
  return `${place}: ${share(totalUs)} (${(totalUs / 1_000).toFixed(0)} ms), itself ${share(selfUs)}`;
}

function legend(top: number): string[] {
  let x = MARGIN;
  return OWNERS.flatMap(([, color, words]) => {
    const left = x;
    x += 34 + words.length * 6.6;
    return [
      `<rect class="m${color} b" x="${left}" y="${top - 10}" width="12" height="12"/>`,
      text(left + 18, top, words, `class="faint"`),
    ];
  });
}

/** Pale enough for words on it, in either scheme. */
function rules(): string {
  return ".b{fill-opacity:.38}text.f{font-size:10.5px}";
}
