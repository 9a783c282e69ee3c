// How late is the host's event loop while executions run as fast as they can, 1,000 one-step executions in flight?
//
// `host-delay/0`  Partitions in the host's thread, beside the same process with nothing to do: what the measure itself shows.
// `host-delay/1`  Partitions in a thread of their own, beside partitions in the host's.

import { setTimeout as delay } from "node:timers/promises";
import { auditReceipts } from "../harness/audit.js";
import type { Budget, Sample } from "../harness/duel.js";
import { duelOfLatenesses, latenessDuring } from "../harness/lateness.js";
import { load } from "../harness/load.js";
import type { ByEffort, Question } from "../harness/question.js";
import { freshDirectory, removeDirectory } from "../harness/scratch.js";
import { threadsSide } from "../sides/threads-side.js";

const IN_FLIGHT = 1_000;
const EXECUTIONS: ByEffort<number> = { full: 60_000, quick: 1_000 };
const IDLE_MS: ByEffort<number> = { full: 2_000, quick: 50 };
const BUDGET: ByEffort<Budget> = {
  full: { timeMs: 0, rounds: 10, warmupRounds: 1 },
  quick: { timeMs: 0, rounds: 2, warmupRounds: 0 },
};

/** What the host does during a sample. */
interface Host {
  readonly name: string;
  readonly busy: (effort: keyof ByEffort<number>) => Promise<Sample>;
}

const idle: Host = {
  name: "nothing to do",
  busy: (effort) => latenessDuring(() => delay(IDLE_MS[effort])),
};

export const hostDelay: readonly Question[] = [
  ask("host-delay/0", underLoad(0, "no threads"), idle),
  ask("host-delay/1", underLoad(1, "1 thread"), underLoad(0, "no threads")),
];

function ask(id: string, ours: Host, theirs: Host): Question {
  return {
    id,
    ask: (effort) =>
      duelOfLatenesses({ id, inFlight: IN_FLIGHT, budget: BUDGET, names: [ours.name, theirs.name] }, effort),
    sampler: async (side, effort) => () => (side === "ours" ? ours : theirs).busy(effort),
  };
}

function underLoad(actors: number, name: string): Host {
  const side = threadsSide(actors, 1, "nothing", name);
  return {
    name,
    async busy(effort) {
      const directory = freshDirectory();
      const session = await side.open(directory);
      const executions = EXECUTIONS[effort];
      const sample = await latenessDuring(async () => {
        const { receipts } = await load((n) => session.run(n), { executions, inFlight: IN_FLIGHT });
        auditReceipts(name, receipts);
      });
      await session.close();
      removeDirectory(directory);
      return sample;
    },
  };
}
