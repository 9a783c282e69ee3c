// How long does one execution take, from `start` to its decoded result, when it is the only one? It makes two commits,
// one after the other; the baseline makes the same two.

import { auditHoldings, auditRecorded, idleCommitsOf } from "../harness/audit.js";
import { type Budget, duel } from "../harness/duel.js";
import type { ByEffort, Question } from "../harness/question.js";
import { freshDirectory, removeDirectory } from "../harness/scratch.js";
import type { Session, Side, Sync } from "../harness/side.js";
import { timed, timeRow } from "../harness/time.js";
import { heddle } from "../sides/heddle.js";
import { limit } from "../sides/limit.js";

const BUDGET: ByEffort<Budget> = {
  full: { timeMs: 4_000, rounds: 200, warmupRounds: 50 },
  quick: { timeMs: 0, rounds: 20, warmupRounds: 2 },
};
const STEPS = 1;

export const alone: readonly Question[] = [ask("flush"), ask("commit")];

function ask(sync: Sync): Question {
  const id = `alone/${sync}`;
  return {
    id,
    async ask(effort) {
      const budget = BUDGET[effort];
      const ours = await enter(heddle({ steps: STEPS, sync }));
      const theirs = await enter(limit({ steps: STEPS, sync }));
      globalThis.gc?.();
      const outcome = await duel(
        (n) => timed(() => ours.session.run(n)),
        (n) => timed(() => theirs.session.run(n)),
        "time",
        budget,
      );
      const executions = budget.warmupRounds + outcome.rounds.length;
      await leave(ours, executions);
      await leave(theirs, executions);
      return timeRow({ id, sync, outcome });
    },
  };
}

interface Entered {
  readonly side: Side;
  readonly directory: string;
  readonly session: Session;
  readonly idleCommits: number;
}

async function enter(side: Side): Promise<Entered> {
  const idleCommits = await idleCommitsOf(side);
  const directory = freshDirectory();
  return { side, directory, session: await side.open(directory), idleCommits };
}

async function leave({ side, directory, session, idleCommits }: Entered, executions: number): Promise<void> {
  await auditRecorded(side.name, session, executions);
  await session.close();
  const expected = { executions, recordsEach: STEPS + 1, idleCommits, inFlight: 1 };
  await auditHoldings(side.name, session, expected);
  removeDirectory(directory);
}
