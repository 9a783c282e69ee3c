// How long does it take to go on with an execution that is not in memory and has a log of 102 events: fifty steps and a gate?
//
// `cold-resume/SYNC`             From `resume` to the durable end: its log is read and replayed up to the gate, and the event of the gate, the
//                                resumption and the end are committed.
// `cold-resume/commit/snapshot`  The same with a snapshot at the hundredth event. A replay needs the log all the same: the flow's code has to
//                                be given what each step gave. So a snapshot is not to cost anything here, and saves nothing.
// `cold-state/102`               Only to fold its state: what `loadState` does.
// `cold-state/102/snapshot`      The same, with that snapshot: two events are left to fold.
//
// The executions are parked, the directory is closed and opened again, and each is looked at once. The baseline reads and decodes as many
// records, and commits as many events. The pages come from the system's cache.

import { auditHoldings, auditRecorded } from "../harness/audit.js";
import { type Budget, duel, type Sample } from "../harness/duel.js";
import type { ByEffort, Question } from "../harness/question.js";
import { freshDirectory, removeDirectory } from "../harness/scratch.js";
import type { ParkedLog, Sync } from "../harness/side.js";
import { timed, timeRow } from "../harness/time.js";
import { openParkedHeddle } from "../sides/heddle.js";
import { openParkedLimit } from "../sides/limit.js";

const BUDGET: ByEffort<Budget> = {
  full: { timeMs: 0, rounds: 400, warmupRounds: 50 },
  quick: { timeMs: 0, rounds: 20, warmupRounds: 2 },
};
const STEPS = 50;
const SNAPSHOT_EVERY = 100;
const EVENTS_PARKED = 102;
const EVENTS_ENDED = 105;

export const coldResume: readonly Question[] = [
  ask("cold-resume/flush", "flush", resume),
  ask("cold-resume/commit", "commit", resume),
  ask("cold-resume/commit/snapshot", "commit", resume, SNAPSHOT_EVERY),
  ask("cold-state/102", "commit", readState),
  ask("cold-state/102/snapshot", "commit", readState, SNAPSHOT_EVERY),
];

type Look = (parked: Parked, n: number) => Promise<Sample>;

function ask(id: string, sync: Sync, look: Look, snapshotEvery?: number): Question {
  const options = { steps: STEPS, sync };
  const ourOptions = { ...options, ...(snapshotEvery !== undefined && { snapshotEvery }) };
  return {
    id,
    async ask(effort) {
      const budget = BUDGET[effort];
      const executions = budget.warmupRounds + budget.rounds;
      const ours = await park("heddle", (directory) => openParkedHeddle(directory, ourOptions), executions);
      const theirs = await park(
        "limit",
        async (directory) => openParkedLimit(directory, options),
        executions,
      );
      globalThis.gc?.();
      const outcome = await duel(
        (n) => look(ours, n),
        (n) => look(theirs, n),
        "time",
        budget,
      );
      await leave(ours, executions, look);
      await leave(theirs, executions, look);
      return timeRow({ id, sync, outcome });
    },
  };
}

interface Parked {
  readonly name: string;
  readonly directory: string;
  readonly log: ParkedLog;
}

async function park(
  name: string,
  open: (directory: string) => Promise<ParkedLog>,
  executions: number,
): Promise<Parked> {
  const directory = freshDirectory();
  const first = await open(directory);
  await Promise.all(Array.from({ length: executions }, (_, n) => first.park(n)));
  await first.close();
  return { name, directory, log: await open(directory) };
}

async function resume({ name, log }: Parked, n: number): Promise<Sample> {
  await expectEvents(name, log, n, EVENTS_PARKED);
  const sample = await timed(() => log.resume(n));
  // What was timed went all the way to the end, not just to the receipt of the gate's event.
  await expectEvents(name, log, n, EVENTS_ENDED);
  return sample;
}

async function readState({ name, log }: Parked, n: number): Promise<Sample> {
  let sequence: number | undefined;
  const sample = await timed(async () => {
    sequence = await log.state(n);
  });
  if (sequence !== EVENTS_PARKED - 1)
    throw new Error(`${name} has folded execution ${n} up to ${String(sequence)}.`);
  return sample;
}

async function leave({ name, directory, log }: Parked, executions: number, look: Look): Promise<void> {
  const isOver = look === resume;
  if (isOver) await auditRecorded(name, log, executions);
  await log.close();
  // A record for each step and one more; resuming adds the last. They were parked side by side, in shared commits.
  await auditHoldings(name, log, {
    executions,
    recordsEach: isOver ? STEPS + 2 : STEPS + 1,
    idleCommits: 0,
    inFlight: executions,
  });
  removeDirectory(directory);
}

async function expectEvents(name: string, log: ParkedLog, n: number, expected: number): Promise<void> {
  const events = await log.events(n);
  if (events !== expected)
    throw new Error(`${name} has ${events} events of execution ${n}, not ${expected}.`);
}
