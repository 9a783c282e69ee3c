// Audit: a sample counts only if its side did all of the work. Runs off the clock and throws when it did not.

import { isDeepStrictEqual } from "node:util";
import { holdingsOf } from "./holdings.js";
import { freshDirectory, removeDirectory } from "./scratch.js";
import { type OpenLog, type Receipt, receiptOf, type Side } from "./side.js";

/** Each execution was given its own output. */
export function auditReceipts(name: string, receipts: readonly Receipt[]): void {
  for (const [n, receipt] of receipts.entries()) expectOutput(name, n, "returned", receipt);
}

/** The log gives the same again. Reads a few executions only, because there are many. */
export async function auditRecorded(name: string, log: OpenLog, executions: number): Promise<void> {
  const stride = Math.max(1, Math.floor(executions / 16));
  for (let n = 0; n < executions; n += stride) expectOutput(name, n, "recorded", await log.recorded(n));
}

export interface Expected {
  readonly executions: number;
  readonly recordsEach: number;
  /** Commits that opening and closing makes without any execution. */
  readonly idleCommits: number;
  /** Alone means that no commit can be shared. */
  readonly inFlight: number;
}

/** Every execution is on disk, in as many records as it needs; returns the commits it took. The log is closed. */
export async function auditHoldings(name: string, { place }: OpenLog, expected: Expected): Promise<number> {
  const { executions, recordsEach, idleCommits, inFlight } = expected;
  const held = await holdingsOf(place);
  expectCount(name, "headers", held.headers, executions);
  expectCount(name, "log records", held.records, executions * recordsEach);
  const commits = held.commits - idleCommits;
  // Nobody can do with fewer: a commit holds at most one record of each execution in flight.
  const least = Math.ceil(executions / inFlight) * recordsEach;
  if (commits < least || (inFlight === 1 && commits !== least)) {
    throw new Error(`${name} made ${commits} commits for ${executions} executions, not ${least}.`);
  }
  return commits;
}

export async function idleCommitsOf(side: Side): Promise<number> {
  const directory = freshDirectory();
  const session = await side.open(directory);
  await session.close();
  const { commits } = await holdingsOf(session.place);
  removeDirectory(directory);
  return commits;
}

function expectOutput(name: string, n: number, verb: string, output: unknown): void {
  if (isDeepStrictEqual(output, receiptOf(n))) return;
  throw new Error(`${name} ${verb} ${JSON.stringify(output)} as the output of execution ${n}.`);
}

function expectCount(name: string, what: string, found: number, expected: number): void {
  if (found === expected) return;
  throw new Error(`${name} left ${found} ${what} on disk where ${expected} are needed.`);
}
