// What a store refuses of a batch before it writes any of it, so that the log stays as it was.

import { HeddleError } from "../errors.js";
import { checkId } from "../ids.js";
import type { CommitBatch, ExecutionCommit, TimerRow } from "./spi.js";

const SEQUENCE_MAX = 0xffff_ffff;

/** Throws ID_INVALID or INVARIANT_BROKEN. */
export function checkBatch({ executions }: CommitBatch): void {
  for (let i = 0; i < executions.length; i++) checkCommit(executions[i]!);
}

function checkCommit({ header, created, refile, record, arm, disarm }: ExecutionCommit): void {
  if (!isKey(header.key)) throw broken(`${header.key} is no execution's key`);
  if (created) {
    checkId("executionId", header.id);
    if (!refile) throw broken("an execution is created without its header");
  }
  if (record) {
    const { sequence, events } = record;
    if (events.length === 0) throw broken("a record has no events");
    if (!isKey(sequence) || sequence + events.length - 1 > SEQUENCE_MAX) {
      throw broken(`a record of ${events.length} events begins at ${sequence}`);
    }
  }
  for (let i = 0; i < arm.length; i++) checkTimer(arm[i]!);
  for (let i = 0; i < disarm.length; i++) checkTimer(disarm[i]!);
}

function checkTimer({ wakeAt, key }: TimerRow): void {
  if (!isKey(key)) throw broken(`${key} is no execution's key`);
  if (!(wakeAt >= 0)) throw broken(`a timer wakes at ${wakeAt}`);
}

function isKey(number: number): boolean {
  return Number.isSafeInteger(number) && number >= 0;
}

// Not `invariant`: this runs for every execution of every batch, and the words would be put together each time.
function broken(detail: string): HeddleError {
  return new HeddleError("INVARIANT_BROKEN", `commit: ${detail}`, { details: { label: "commit" } });
}
