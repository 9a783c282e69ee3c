// How many megabytes a second do one-step executions record whose step gives 1 KB to 10 MB: documents of a kilobyte each? Beside the raw
// baseline, which writes the same values. Both hold their values in memory once; what costs is to check, encode, write and decode them.

import type { Question } from "../harness/question.js";
import { rateQuestion } from "../harness/rate.js";
import type { Sync } from "../harness/side.js";
import { heddle } from "../sides/heddle.js";
import { limit } from "../sides/limit.js";
import { foundOf, payloadFlow } from "../sides/payload-flow.js";

interface Size {
  readonly name: string;
  readonly kilobytes: number;
  readonly inFlight: number;
  readonly executions: { readonly full: number; readonly quick: number };
}

/** A sample is tens of megabytes. */
const SIZES: readonly Size[] = [
  { name: "1KB", kilobytes: 1, inFlight: 1_000, executions: { full: 30_000, quick: 1_000 } },
  { name: "10KB", kilobytes: 10, inFlight: 1_000, executions: { full: 5_000, quick: 100 } },
  { name: "100KB", kilobytes: 100, inFlight: 100, executions: { full: 600, quick: 10 } },
  { name: "1MB", kilobytes: 1_000, inFlight: 16, executions: { full: 64, quick: 2 } },
  { name: "10MB", kilobytes: 10_000, inFlight: 4, executions: { full: 8, quick: 2 } },
];

export const payload: readonly Question[] = (["flush", "commit"] as const).flatMap((sync) => {
  return SIZES.map((size) => ask(sync, size));
});

function ask(sync: Sync, { name, kilobytes, inFlight, executions }: Size): Question {
  const found = foundOf(kilobytes);
  const options = { steps: 1, sync };
  return rateQuestion({
    id: `payload/${sync}/${name}`,
    unit: "MB/s",
    ...options,
    unitsEach: kilobytes / 1_000,
    inFlight,
    executions,
    heddle: heddle({ ...options, flow: payloadFlow(found) }),
    against: limit({ ...options, result: found }),
  });
}
