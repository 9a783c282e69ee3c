// Question: one row of the bench, and how much effort to spend on it.

import type { Budget, Sample } from "./duel.js";
import type { SideName } from "./own-process.js";
import type { Row, Target } from "./report.js";

export interface Question {
  /** Also the row's id. Stable: `--compare` matches by it. */
  readonly id: string;
  ask(effort: Effort): Promise<Row>;
  /** What was promised of it: the tables say whether it holds, and the plots show where it lies. */
  readonly target?: Target;
  /** For questions whose sides are measured in processes of their own: how one of those takes its samples. */
  sampler?(side: "ours" | "theirs", effort: Effort): Promise<() => Promise<Sample>>;
  /** For questions about a directory that is there already: how a process of its own fills it, or opens it as one side does. */
  opener?(side: SideName["side"], effort: Effort, directory: string): Promise<unknown>;
}

export type Effort = "full" | "quick";

/** `quick` proves that the bench works and is too short to be believed. */
export type ByEffort<T> = { readonly [E in Effort]: T };

/** For samples of many executions each: a sample is long enough by itself, and a few of them tell the spread. */
export const SAMPLES_OF_MANY: ByEffort<Budget> = {
  full: { timeMs: 6_000, rounds: 8, warmupRounds: 1 },
  quick: { timeMs: 0, rounds: 2, warmupRounds: 0 },
};
