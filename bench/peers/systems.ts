// Systems: which there are, and how much work each is given.

import type { Effort } from "./measurement.js";

export interface SystemEntry {
  readonly name: string;
  /** Beside this file, or in the folder of the other systems. */
  readonly home: "here" | "others";
  /** The file of its SystemModule, where that is not called as it is. */
  readonly file?: string;
  readonly asItComes?: true;
  readonly effort: Effort;
}

/** One to four seconds a sample, at what each does on two cores. */
export const SYSTEMS: readonly SystemEntry[] = [
  { name: "heddle", home: "here", effort: { executions: 60_000, alone: 500, inFlight: [100, 1_000] } },
  { name: "dbos", home: "others", effort: { executions: 2_000, alone: 200, inFlight: [10, 100, 1_000] } },
  // Its worker looks for work every 50 to 100 ms when it had none: alone, that is the time.
  { name: "openworkflow", home: "others", effort: { executions: 2_000, alone: 30, inFlight: [100, 1_000] } },
  { name: "restate", home: "others", effort: { executions: 3_000, alone: 200, inFlight: [10, 100, 1_000] } },
  ...withAndWithoutFlush("langgraph", { executions: 2_000, alone: 200, inFlight: [1, 10, 100] }),
  ...withAndWithoutFlush("effect", { executions: 400, alone: 100, inFlight: [10, 100] }),
];

/** Their packages leave SQLite at `synchronous` NORMAL: what one gets without a word, and what the others are held to. */
function withAndWithoutFlush(name: string, effort: Effort): SystemEntry[] {
  return [
    { name, home: "others", effort },
    { name: `${name}-normal`, home: "others", file: name, asItComes: true, effort },
  ];
}

export function quick({ executions, alone, inFlight }: Effort): Effort {
  return { executions: Math.ceil(executions / 20), alone: Math.ceil(alone / 20), inFlight };
}
