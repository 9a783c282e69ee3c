// Flame: profiles our side of a row and shows where its time goes.
//
// The bench's own process is that side's: it has one side only, as the processes of a duel have. Other threads have profiles of
// their own, which are not taken. A sample or two before teach the compiler.

import { mkdirSync, writeFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { join } from "node:path";
import { describeMachine, versions } from "../harness/machine.js";
import type { Question } from "../harness/question.js";
import { renderTable } from "../harness/table.js";
import { captionOf } from "../plots/caption.js";
import { type Call, callTree, type Place, selfTimes, sumOf } from "./call-tree.js";
import { flameGraph } from "./flame-graph.js";
import { sourcePlaces } from "./source-place.js";

const INTERVAL_US = 200;
const SAMPLES = 3;
const WARM_UP_SAMPLES = 2;
const LISTED = 20;

/** Writes `flame-ROW.svg` and returns in words which functions took the most themselves. */
export async function flame(question: Question, directory: string): Promise<string> {
  const { id } = question;
  if (!question.sampler) throw new Error(`${id} has no side with a process of its own to profile.`);
  const caption = captionOf({
    date: new Date().toISOString(),
    versions: versions(),
    machine: describeMachine(),
  });
  const take = await question.sampler("ours", "full");
  for (let n = 0; n < WARM_UP_SAMPLES; n++) await take();
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.setSamplingInterval", { interval: INTERVAL_US });
  await session.post("Profiler.start");
  for (let n = 0; n < SAMPLES; n++) await take();
  const { profile } = await session.post("Profiler.stop");
  session.disconnect();
  const calls = callTree(profile, sourcePlaces(process.cwd()), isOffTheClock);
  const file = join(directory, `flame-${id.replaceAll("/", "-")}.svg`);
  mkdirSync(directory, { recursive: true });
  writeFileSync(
    file,
    flameGraph(calls, { title: `${id}: where the time of heddle's main thread goes`, subtitle: caption }),
  );
  return `${presentSelf(calls)}\n\n${file}`;
}

/** Checks of a sample, which its time leaves out. */
function isOffTheClock({ where }: Place): boolean {
  return /^bench\/harness\/(audit|holdings|scratch)\./.test(where);
}

function presentSelf(calls: readonly Call[]): string {
  const whole = sumOf(calls);
  return renderTable(
    [
      { heading: "itself", align: "right", cell: ({ selfUs }) => `${((selfUs / whole) * 100).toFixed(1)} %` },
      { heading: "function", align: "left", cell: ({ name }) => name },
      { heading: "of", align: "left", cell: ({ owner }) => owner },
      { heading: "where", align: "left", cell: ({ where }) => where },
    ],
    selfTimes(calls).slice(0, LISTED),
    "text",
  );
}
