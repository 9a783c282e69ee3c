// Tally: what a soak has seen so far, and the report of it.

import type { Fault } from "./schedule.js";

export interface Tally {
  rounds: number;
  readonly faults: { [K in Fault["kind"]]: number };
  /** Hosts that died by SIGKILL. */
  kills: number;
  /** Partition threads that ended, and were started again. */
  threads: number;
  /** Hosts the directory refused, because another one had it. */
  refused: number;
  /** Hosts that were told that the disk is full. */
  full: number;
  /** Directories that were finished, and held against what their executions come to. */
  directories: number;
  executions: number;
  events: number;
  /** Effects that began. */
  effects: number;
  /** Steps whose effect was done more than once, their outcome not being durable when the process died: allowed. */
  doubledAllowed: number;
  /** Steps that were in doubt, and were decided. */
  doubts: number;
  /** Acknowledged starts, answers, verdicts and cancellations that were held against the log. */
  acknowledged: number;
}

export function emptyTally(): Tally {
  return {
    rounds: 0,
    faults: { none: 0, moment: 0, point: 0, thread: 0, stop: 0, twins: 0, full: 0 },
    kills: 0,
    threads: 0,
    refused: 0,
    full: 0,
    directories: 0,
    executions: 0,
    events: 0,
    effects: 0,
    doubledAllowed: 0,
    doubts: 0,
    acknowledged: 0,
  };
}

export function addTally(sum: Tally, { faults, ...counts }: Tally): void {
  for (const kind of Object.keys(faults) as Fault["kind"][]) sum.faults[kind] += faults[kind];
  for (const name of Object.keys(counts) as (keyof typeof counts)[]) sum[name] += counts[name];
}

/** A soak ends at its first finding, so what is not allowed is none or one. */
export interface Verdict {
  readonly seconds: number;
  /** Of this process, at most. */
  readonly residentMiB: number;
  readonly isClean: boolean;
  readonly finding?: string | undefined;
  readonly repeat: string;
}

export function reportOf(tally: Tally, { seconds, residentMiB, isClean, finding, repeat }: Verdict): string {
  const rows: [string, string | number][] = [
    ["time", `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`],
    ["rounds", tally.rounds],
    ["  killed at a random moment", tally.faults.moment],
    ["  killed at a named point", tally.faults.point],
    ["  stopped beside a second host", tally.faults.stop],
    ["  two hosts at once", tally.faults.twins],
    ["  disk full", `${tally.faults.full} (${tally.full} felt it)`],
    ["  partition thread ended", tally.faults.thread],
    ["  left alone", tally.faults.none],
    ["deaths by SIGKILL", tally.kills],
    ["partition threads started again", tally.threads],
    ["hosts refused by an owned directory", tally.refused],
    ["directories held against what they must come to", tally.directories],
    ["executions", tally.executions],
    ["events", tally.events],
    ["effects", tally.effects],
    ["doubled effects, allowed (no outcome was durable)", tally.doubledAllowed],
    ["doubled effects, not allowed", isClean ? 0 : "see below"],
    ["effects in doubt, decided", tally.doubts],
    ["acknowledgements held against the log", tally.acknowledged],
    ["acknowledgements lost", isClean ? 0 : "see below"],
    ["memory of the driver, at most", `${residentMiB} MiB`],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  const lines = rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`);
  return [...lines, "", isClean ? "Clean." : `NOT CLEAN: ${finding}\n\nTo repeat it: ${repeat}`].join("\n");
}
