// Measurement: the work every system is given, and what is kept of it.
//
// First a warm-up that is also a trial: a quarter of the executions at each number in flight. The number that gave most is
// the one the samples are taken with, so that no system is held to a number that suits another.

import { auditReceipts } from "../harness/audit.js";
import { load } from "../harness/load.js";
import { quantile } from "../harness/quantile.js";
import { orderOf } from "../harness/side.js";
import type { OpenSystem } from "./system.js";

export interface Effort {
  /** Executions a sample. */
  readonly executions: number;
  /** Executions with nothing else in flight. */
  readonly alone: number;
  /** The numbers in flight that are tried. */
  readonly inFlight: readonly number[];
}

export interface Percentiles {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface Measurement {
  /** Executions a second, by number in flight, in the warm-up. */
  readonly trials: readonly { readonly inFlight: number; readonly rate: number }[];
  /** The number in flight that the samples have. */
  readonly inFlight: number;
  /** Executions a second, one number a sample. */
  readonly rates: readonly number[];
  /** Of one execution in these samples. */
  readonly underLoad: Percentiles;
  /** Of one execution when it is the only one. */
  readonly alone: Percentiles;
}

const SAMPLES = 3;
const TRIAL = 0.25;

export async function measure(name: string, system: OpenSystem, effort: Effort): Promise<Measurement> {
  const sample = async (executions: number, inFlight: number) => {
    const done = await load((n) => system.run(orderOf(n)), { executions, inFlight });
    auditReceipts(name, done.receipts);
    return { rate: (executions / done.elapsedMs) * 1_000, latenciesMs: done.latenciesMs };
  };
  const trials: { inFlight: number; rate: number }[] = [];
  for (const inFlight of effort.inFlight) {
    const executions = Math.max(inFlight, Math.ceil(effort.executions * TRIAL));
    trials.push({ inFlight, rate: (await sample(executions, inFlight)).rate });
  }
  const { inFlight } = trials.reduce((best, trial) => (trial.rate > best.rate ? trial : best));
  const alone = await sample(effort.alone, 1);
  const samples = [];
  for (let i = 0; i < SAMPLES; i++) {
    samples.push(await sample(Math.max(inFlight, effort.executions), inFlight));
  }
  return {
    trials,
    inFlight,
    rates: samples.map(({ rate }) => rate),
    underLoad: percentilesOf(samples.map(({ latenciesMs }) => latenciesMs)),
    alone: percentilesOf([alone.latenciesMs]),
  };
}

function percentilesOf(latenciesMs: readonly Float64Array[]): Percentiles {
  return { p50Ms: quantile(latenciesMs, 0.5), p99Ms: quantile(latenciesMs, 0.99) };
}
