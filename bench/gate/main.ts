// The regression gate: `npm run bench:gate`. A short bench of a few rows; ends with 1 when one is far below bench/gate.json.
//
// A busy machine is slow, and that is no regression. So ratios are of processor time, which others who want the same cores change
// little, where elapsed time went from a half to a seventh; and the gate bounds its own time: what it had no time for
// passes, and is said.

import { readFileSync } from "node:fs";
import { play } from "../harness/duel.js";
import { openOwnProcess } from "../harness/own-process.js";
import { quantile } from "../harness/quantile.js";
import type { LoadSample } from "../harness/separate-duel.js";
import { renderTable } from "../harness/table.js";
import { type GateVerdict, judgeRows, type MeasureRatio, parseGate } from "./gate.js";

/** The compiler has seen everything by then. */
const WARM_UP_ROUNDS = 5;
const ROUNDS = 9;
/** Fewer have no median worth the name. */
const ROUNDS_MIN = 3;
const TIME_MAX_MS = 40_000;
/** Of one row, so that the first does not use up what the others need. */
const ROW_TIME_MAX_MS = 13_000;
const GATE_FILE = "bench/gate.json";

const endMs = performance.now() + TIME_MAX_MS;

const measure: MeasureRatio = async (question) => {
  const ours = openOwnProcess<LoadSample>({ question, side: "ours", effort: "quick" });
  const theirs = openOwnProcess<LoadSample>({ question, side: "theirs", effort: "quick" });
  try {
    const rowEndMs = Math.min(endMs, performance.now() + ROW_TIME_MAX_MS);
    const isTimeUp = (): boolean => performance.now() > rowEndMs;
    const ratios: number[] = [];
    for (let n = 0; n < WARM_UP_ROUNDS + ROUNDS && !isTimeUp(); n++) {
      const round = await play(n, ours.sample, theirs.sample);
      if (n >= WARM_UP_ROUNDS) ratios.push(round.theirs.cpuUs / round.ours.cpuUs);
    }
    return ratios.length < ROUNDS_MIN ? undefined : quantile([Float64Array.from(ratios)], 0.5);
  } finally {
    await Promise.all([ours.end(), theirs.end()]);
  }
};

const verdicts = await judgeRows(parseGate(readFileSync(GATE_FILE, "utf8")), measure);
console.log(
  renderTable<GateVerdict>(
    [
      { heading: "row", align: "left", cell: ({ id }) => id },
      {
        heading: "ratio",
        align: "right",
        cell: ({ ratios }) => ratios.map((ratio) => ratio.toFixed(2)).join(", then "),
      },
      { heading: "reference", align: "right", cell: ({ reference }) => reference.toFixed(2) },
      { heading: "at least", align: "right", cell: ({ least }) => least.toFixed(2) },
      { heading: "", align: "left", cell: wordsOf },
    ],
    verdicts,
    "text",
  ),
);
if (verdicts.some(({ fails }) => fails)) {
  console.log(
    `\nFar below ${GATE_FILE}, twice. \`npm run bench -- --only ROW\` measures a row in full, with --flame where its time goes.`,
  );
  process.exitCode = 1;
}

function wordsOf({ fails, ratios }: GateVerdict): string {
  if (fails) return "TOO LOW";
  return ratios.length === 0 ? "not judged: no time was left" : "";
}
