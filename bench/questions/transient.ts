// What does an ambient call cost: an effect by `invokeTransient`, awaited one after the other, beside awaiting the plain
// function?

import { EffectRuntime, ToolEffect } from "heddle";
import { type Budget, duel, type Sample } from "../harness/duel.js";
import type { ByEffort, Question } from "../harness/question.js";
import { type Figures, ratioOf } from "../harness/report.js";
import { type Order, orderOf, type Receipt } from "../harness/side.js";

const BUDGET: ByEffort<Budget> = {
  full: { timeMs: 3_000, rounds: 10, warmupRounds: 2 },
  quick: { timeMs: 0, rounds: 2, warmupRounds: 0 },
};
const CALLS: ByEffort<number> = { full: 1_000_000, quick: 10_000 };

const answer = async ({ n }: Order): Promise<Receipt> => ({ ok: true, n });

export const transient: Question = {
  id: "transient/1",
  async ask(effort) {
    const effects = new EffectRuntime();
    effects.register("answer", new ToolEffect(answer));
    const calls = CALLS[effort];
    const outcome = await duel(
      () => oneAfterTheOther(calls, (order) => effects.invokeTransient<Receipt>("answer", order)),
      () => oneAfterTheOther(calls, answer),
      "rate",
      BUDGET[effort],
    );
    return {
      id: "transient/1",
      unit: "calls/s",
      sync: "none",
      inFlight: 1,
      rounds: outcome.rounds.length,
      heddle: figures("invokeTransient", outcome.ours),
      against: figures("plain await", outcome.theirs),
      ratio: ratioOf(outcome.ratio),
    };
  },
};

async function oneAfterTheOther(calls: number, call: (order: Order) => Promise<Receipt>): Promise<Sample> {
  const started = performance.now();
  for (let n = 0; n < calls; n++) {
    const receipt = await call(orderOf(n));
    if (receipt.n !== n) throw new Error(`Call ${n} gave ${JSON.stringify(receipt)}.`);
  }
  return { durationMs: (performance.now() - started) / calls };
}

function figures(name: string, { latency, throughput }: Awaited<ReturnType<typeof duel>>["ours"]): Figures {
  return {
    name,
    median: throughput.p50,
    errorPercent: throughput.rme,
    p50Ms: latency.p50,
    p99Ms: latency.p99,
    sharedBy: 1,
  };
}
