// Separate duel: a row whose two sides are measured in processes of their own, turn by turn.

import { type Budget, duel, type Measured, type Ratio, type Sample } from "./duel.js";
import { openOwnProcess } from "./own-process.js";
import { quantile, quantileCurve } from "./quantile.js";
import { type ByEffort, type Effort, SAMPLES_OF_MANY } from "./question.js";
import { type Figures, type Row, ratioOf } from "./report.js";

export interface SeparateDuel<S extends Sample> {
  readonly id: string;
  readonly unit: Row["unit"];
  readonly sync: Row["sync"];
  readonly inFlight: number;
  readonly ratio: Ratio;
  readonly budget: ByEffort<Budget>;
  /** Of our side, and of the one beside it. */
  readonly names: readonly [ours: string, theirs: string];
  readonly figures: (name: string, measured: Measured, samples: readonly S[]) => Figures;
}

export async function duelApart<S extends Sample>(
  { id, unit, sync, inFlight, ratio, budget, names, figures }: SeparateDuel<S>,
  effort: Effort,
): Promise<Row> {
  const ours = openOwnProcess<S>({ question: id, side: "ours", effort });
  const theirs = openOwnProcess<S>({ question: id, side: "theirs", effort });
  try {
    const outcome = await duel(ours.sample, theirs.sample, ratio, budget[effort]);
    const { rounds } = outcome;
    const samples = (side: "ours" | "theirs"): S[] => rounds.map((round) => round[side]);
    return {
      id,
      unit,
      sync,
      inFlight,
      rounds: rounds.length,
      heddle: figures(names[0], outcome.ours, samples("ours")),
      against: figures(names[1], outcome.theirs, samples("theirs")),
      ratio: ratioOf(outcome.ratio),
    };
  } finally {
    await Promise.all([ours.end(), theirs.end()]);
  }
}

/** One of rates under load: the row says what of, and how much of it is in flight. */
export function duelOfLoads(
  row: Pick<SeparateDuel<LoadSample>, "id" | "unit" | "sync" | "inFlight" | "names">,
  effort: Effort,
): Promise<Row> {
  return duelApart({ ...row, ratio: "rate", budget: SAMPLES_OF_MANY, figures: loadFigures }, effort);
}

/** What a load leaves: how long each call took, and what processor time one costs. */
export interface LoadSample extends Sample {
  readonly latenciesMs: Float64Array;
  /** Executions a commit. */
  readonly sharedBy: number;
  readonly cpuUs: number;
  readonly writtenBytes?: number | undefined;
}

function loadFigures(name: string, { throughput }: Measured, samples: readonly LoadSample[]): Figures {
  const latencies = samples.map(({ latenciesMs }) => latenciesMs);
  const mean = (of: (sample: LoadSample) => number): number =>
    samples.reduce((sum, sample) => sum + of(sample), 0) / samples.length;
  return {
    name,
    median: throughput.p50,
    errorPercent: throughput.rme,
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
    sharedBy: mean(({ sharedBy }) => sharedBy),
    cpuUs: mean(({ cpuUs }) => cpuUs),
    ...(samples.every(({ writtenBytes }) => writtenBytes !== undefined) && {
      writtenBytes: mean(({ writtenBytes = 0 }) => writtenBytes),
    }),
    timesMs: quantileCurve(latencies),
  };
}
