// What a store refuses of a batch before it writes any of it, so that the log stays as it was.

import { invariant } from "../errors.js";
import { checkId } from "../ids.js";
import type { CommitBatch, ExecutionCommit, TimerRow } from "./spi.js";

const SEQUENCE_MAX = 0xffff_ffff;

/** Throws ID_INVALID or INVARIANT_BROKEN. */
export function checkBatch({ executions }: CommitBatch): void {
  for (let i = 0; i < executions.length; i++) checkCommit(executions[i]!);
}

function checkCommit({ header, created, refile, record, arm, disarm }: ExecutionCommit): void {
  checkKey(header.key);
  if (created) {
    checkId("executionId", header.id);
    invariant(refile, "commit", "an execution is created without its header");
  }
  if (record) {
    const { sequence, events } = record;
    invariant(events.length > 0, "commit", "a record has no events");
    invariant(Number.isSafeInteger(sequence) && sequence >= 0, "commit", `a record begins at ${sequence}`);
    invariant(sequence + events.length - 1 <= SEQUENCE_MAX, "commit", `a log reaches past ${SEQUENCE_MAX}`);
  }
  for (let i = 0; i < arm.length; i++) checkTimer(arm[i]!);
  for (let i = 0; i < disarm.length; i++) checkTimer(disarm[i]!);
}

function checkTimer({ wakeAt, key }: TimerRow): void {
  checkKey(key);
  invariant(wakeAt >= 0, "commit", `a timer wakes at ${wakeAt}`);
}

function checkKey(key: number): void {
  invariant(Number.isSafeInteger(key) && key >= 0, "commit", `${key} is no execution's key`);
}
