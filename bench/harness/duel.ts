// Duel: two ways to do the same work, measured turn by turn.
//
// A machine that is busy with something else is slow for both, so the sides take turns within a round, the order of
// turns alternates from round to round, and the ratio is taken within each round.
//
// tinybench decides how many rounds there are and does all statistics. It knows no rounds: it runs its tasks one after
// the other, or all at once. Here three tasks run at once (`concurrency: "bench"`), in step, because iteration i of each
// of them awaits the same round i; what they report is what the round measured: the time of one side, of the other, and
// the ratio. All report the same cost to the time budget, so all end after the same number of rounds.

import { Bench, type FnReturnedObject, type Statistics, type Task } from "tinybench";

export interface Sample {
  /** Of one unit of work: an execution, a step. */
  readonly durationMs: number;
}

export interface Budget {
  /** Rounds go on until both are reached. */
  readonly timeMs: number;
  readonly rounds: number;
  readonly warmupRounds: number;
}

export interface Round<S extends Sample> {
  readonly ours: S;
  readonly theirs: S;
  readonly costMs: number;
}

export interface Measured {
  readonly latency: Statistics;
  readonly throughput: Statistics;
}

export interface Outcome<S extends Sample> {
  readonly ours: Measured;
  readonly theirs: Measured;
  readonly ratio: Statistics;
  readonly rounds: readonly Round<S>[];
}

/** Of ours to theirs: `time` compares durations, so less is better; `rate` compares what is done in a time. */
export type Ratio = "rate" | "time";

const RATIOS: { readonly [R in Ratio]: (round: Round<Sample>) => number } = {
  rate: ({ ours, theirs }) => theirs.durationMs / ours.durationMs,
  time: ({ ours, theirs }) => ours.durationMs / theirs.durationMs,
};

/** One sample of round `n`; warm-up rounds come first and count too. */
export type Sampler<S extends Sample> = (n: number) => Promise<S>;

export async function duel<S extends Sample>(
  ours: Sampler<S>,
  theirs: Sampler<S>,
  ratio: Ratio,
  { timeMs, rounds: iterations, warmupRounds }: Budget,
): Promise<Outcome<S>> {
  const played: Promise<Round<S>>[] = [];
  const inStep = (report: (round: Round<S>) => number) => {
    let next = 0;
    return async (): Promise<FnReturnedObject> => {
      const n = next++;
      const round = await (played[n] ??= play(n, ours, theirs));
      return { overriddenDuration: report(round), overriddenIterationCost: round.costMs };
    };
  };
  const bench = new Bench({
    concurrency: "bench",
    time: timeMs,
    iterations,
    warmup: warmupRounds > 0,
    warmupTime: 0,
    warmupIterations: warmupRounds,
    throws: true,
  });
  bench.add(
    "ours",
    inStep((round) => round.ours.durationMs),
    { async: true },
  );
  bench.add(
    "theirs",
    inStep((round) => round.theirs.durationMs),
    { async: true },
  );
  bench.add("ratio", inStep(RATIOS[ratio]), { async: true });
  const [oursTask, theirsTask, ratioTask] = await bench.run();
  return {
    ours: measured(oursTask),
    theirs: measured(theirsTask),
    ratio: measured(ratioTask).latency,
    rounds: (await Promise.all(played)).slice(warmupRounds),
  };
}

/** Who is first alternates from round to round. */
export async function play<S extends Sample>(
  n: number,
  ours: Sampler<S>,
  theirs: Sampler<S>,
): Promise<Round<S>> {
  const started = performance.now();
  const cost = (): number => performance.now() - started;
  if (n % 2 === 0) {
    const first = await ours(n);
    const second = await theirs(n);
    return { ours: first, theirs: second, costMs: cost() };
  }
  const first = await theirs(n);
  const second = await ours(n);
  return { ours: second, theirs: first, costMs: cost() };
}

function measured(task: Task | undefined): Measured {
  const result = task?.result;
  if (result?.state === "completed") return { latency: result.latency, throughput: result.throughput };
  throw new Error(`The measurement ended as ${result?.state ?? "nothing"}.`);
}
