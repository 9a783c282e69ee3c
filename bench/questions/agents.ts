// How many turns a second do 1,000 agents at once make, ten turns each, over a model that takes 20 ms?
//
// `agents/flush/N`       On N partition threads, beside one-step executions in the same manner, 1,000 in flight. A turn is two steps and
//                        a bit: the model and a tool. The model's time alone lets through 50,000 turns a second.
// `agents/host-delay/1`  The 99th percentile of the host's lateness meanwhile, partitions in a thread of their own, beside the host's.

import { auditReceipts } from "../harness/audit.js";
import type { Budget } from "../harness/duel.js";
import { duelOfLatenesses, latenessDuring } from "../harness/lateness.js";
import { load, sampleOf } from "../harness/load.js";
import type { ByEffort, Question } from "../harness/question.js";
import { freshDirectory, removeDirectory } from "../harness/scratch.js";
import { duelOfLoads, type LoadSample } from "../harness/separate-duel.js";
import { TURNS } from "../sides/agents-flows.js";
import { agentsSide } from "../sides/agents-side.js";
import { type ThreadsSide, threadsSide } from "../sides/threads-side.js";

const IN_FLIGHT = 1_000;
const AGENTS: ByEffort<number> = { full: 5_000, quick: 100 };
const ONE_STEP: ByEffort<number> = { full: 60_000, quick: 1_000 };
const BUDGET: ByEffort<Budget> = {
  full: { timeMs: 0, rounds: 6, warmupRounds: 1 },
  quick: { timeMs: 0, rounds: 2, warmupRounds: 0 },
};

export const agents: readonly Question[] = [turns(0), turns(2), hostDelay()];

function turns(actors: number): Question {
  const id = `agents/flush/${actors}`;
  const partitions = Math.max(1, actors);
  const row = {
    id,
    unit: "turns/s",
    sync: "flush",
    inFlight: IN_FLIGHT,
    names: ["turns", "one step"],
  } as const;
  const one = threadsSide(actors, partitions, "nothing", "one step");
  return {
    id,
    ask: (effort) => duelOfLoads(row, effort),
    sampler: async (side, effort) =>
      side === "ours"
        ? sampler(agentsSide(actors, partitions), AGENTS[effort], TURNS)
        : sampler(one, ONE_STEP[effort], 1),
  };
}

function sampler(side: ThreadsSide, executions: number, unitsEach: number): () => Promise<LoadSample> {
  return async () => {
    const directory = freshDirectory();
    const session = await side.open(directory);
    const done = await load((n) => session.run(n), { executions, inFlight: IN_FLIGHT });
    auditReceipts(side.name, done.receipts);
    await session.close();
    removeDirectory(directory);
    return sampleOf(done, executions * unitsEach);
  };
}

function hostDelay(): Question {
  const id = "agents/host-delay/1";
  return {
    id,
    ask: (effort) =>
      duelOfLatenesses(
        { id, inFlight: IN_FLIGHT, budget: BUDGET, names: ["1 thread", "no threads"] },
        effort,
      ),
    sampler: async (side, effort) => {
      const take = sampler(agentsSide(side === "ours" ? 1 : 0, 1), AGENTS[effort], TURNS);
      return () => latenessDuring(take);
    },
  };
}
