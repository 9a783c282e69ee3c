// Faults: what may go wrong in a simulation and how often. A swarm: each seed leaves some out and turns others up, because
// faults that are always there together hide what each does alone.

import type { SimRandom } from "./random.js";

/** Chances, each from 0 to 1, and 0 where the fault is left out. */
export interface Faults {
  /** In a tick: the process is killed. What it handed to the operating system survives. */
  readonly kill: number;
  /** In a tick: the machine loses its power, and with it a suffix of what was not flushed. */
  readonly powerLoss: number;
  /** In a tick: the process is stopped for a while, as by SIGSTOP. */
  readonly pause: number;
  /** In a tick: another process takes the log over while this one is stopped, or goes on and does not know. */
  readonly takeover: number;
  /** In a tick: the clock on the wall is set, forward or back. */
  readonly clockStep: number;
  /** In a write: it fails, and so does everything until a probe gets through. */
  readonly failedCommit: number;
  /** In a write: it takes long. */
  readonly slowCommit: number;
  /** In a read: it takes long. */
  readonly slowRead: number;
  /** In an attempt: its worker is lost, before or after its effect did its work. */
  readonly workerLoss: number;
  /** In an attempt: its outcome arrives late, maybe after its time limit. */
  readonly lateResult: number;
  /** In an outcome: it is called back more than once. */
  readonly duplicateResult: number;
  /** In a request of a client: it is sent again. */
  readonly duplicateRequest: number;
  /** When a process begins: it keeps few executions in memory, or none between their turns. */
  readonly passivation: number;
}

export type FaultName = keyof Faults;

/** Each with its chance when turned up high. */
const HIGH: Faults = {
  kill: 0.03,
  powerLoss: 0.03,
  pause: 0.03,
  takeover: 0.02,
  clockStep: 0.03,
  failedCommit: 0.1,
  slowCommit: 0.5,
  slowRead: 0.5,
  workerLoss: 0.3,
  lateResult: 0.5,
  duplicateResult: 0.5,
  duplicateRequest: 0.7,
  passivation: 1,
};

export const FAULT_NAMES = Object.keys(HIGH) as readonly FaultName[];

export const NO_FAULTS: Faults = faultsOf(() => 0);

/** Every fault: left out, rare, or often. */
export function swarm(random: SimRandom, allowed: readonly FaultName[] = FAULT_NAMES): Faults {
  // Drawn for all of them, so that what is allowed does not change what the others get.
  const drawn = faultsOf((name) => random.pick([0, 0, HIGH[name] / 5, HIGH[name]]));
  return faultsOf((name) => (allowed.includes(name) ? drawn[name] : 0));
}

export function without(faults: Faults, name: FaultName): Faults {
  return { ...faults, [name]: 0 };
}

export function activeFaults(faults: Faults): readonly FaultName[] {
  return FAULT_NAMES.filter((name) => faults[name] > 0);
}

function faultsOf(chance: (name: FaultName) => number): Faults {
  return Object.fromEntries(FAULT_NAMES.map((name) => [name, chance(name)])) as unknown as Faults;
}
