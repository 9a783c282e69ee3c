// The envelope: what executions of an app may use, and how much of it they have.

import { type Budget, type BudgetLedger, Ledger, readBudgets } from "../effects/index.js";
import { checkCount, checkOptionGroup } from "../kernel/index.js";

/** How far executions may go in starting others. Nothing here starts any yet: it is passed on as it is. */
export interface SpawnLimits {
  /** Generations below the execution that was started from outside. */
  readonly maxDepth?: number | undefined;
  /** Children of one execution. */
  readonly maxChildren?: number | undefined;
}

export interface EnvelopeConfig {
  /** Asked for each attempt, all of them. Without any, use is counted and not bounded. */
  budgets?: readonly Budget[] | undefined;
  spawn?: SpawnLimits | undefined;
}

export interface Envelope {
  readonly spawn: SpawnLimits;
  readonly ledger: BudgetLedger;
}

const OPTIONS = ["budgets", "spawn"];
const LIMITS = ["maxDepth", "maxChildren"];

/** @throws CONFIG_INVALID, naming the option */
export function readEnvelope(envelope: EnvelopeConfig | undefined): void {
  if (envelope === undefined) return;
  checkOptionGroup("execution.envelope", envelope, OPTIONS);
  const { budgets, spawn } = envelope;
  if (budgets !== undefined) readBudgets("execution.envelope.budgets", budgets);
  if (spawn === undefined) return;
  checkOptionGroup("execution.envelope.spawn", spawn, LIMITS);
  checkCount("execution.envelope.spawn.maxDepth", spawn.maxDepth, 0);
  checkCount("execution.envelope.spawn.maxChildren", spawn.maxChildren, 0);
}

/** @param now milliseconds since the epoch */
export function openEnvelope(
  envelope: EnvelopeConfig | undefined,
  now: () => number,
): (Envelope & { readonly ledger: Ledger }) | undefined {
  if (envelope === undefined) return undefined;
  const budgets = readBudgets("execution.envelope.budgets", envelope.budgets ?? []);
  return { spawn: { ...envelope.spawn }, ledger: new Ledger(budgets, now) };
}
