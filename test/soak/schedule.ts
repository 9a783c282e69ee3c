// Schedule: what a round of a soak does to its hosts, drawn from a seed. The moments are real ones, so a seed repeats the plan and not
// every instant of it.

import { between, pick, type Random } from "../crash/random.js";
import { KINDS, type Kind } from "./expected.js";

/** What happens to the host of a round. Times count from when it has loaded. */
export type Fault =
  /** It is left alone until nothing is left to do. */
  | { readonly kind: "none" }
  /** SIGKILL, at any moment. */
  | { readonly kind: "moment"; readonly afterMs: number }
  /** It kills itself at a named point. */
  | { readonly kind: "point"; readonly point: string; readonly count: number }
  /** A partition thread of it ends at a named point, and the host goes on. */
  | { readonly kind: "thread"; readonly point: string; readonly count: number }
  /** SIGSTOP, while another host tries the directory; then SIGCONT, and after that SIGKILL. */
  | {
      readonly kind: "stop";
      readonly afterMs: number;
      readonly forMs: number;
      readonly goesOnMs: number;
    }
  /** Two hosts at once; the one that got the directory is killed. */
  | { readonly kind: "twins"; readonly afterMs: number }
  /** The disk has so much room and no more; later there is room again, and after that SIGKILL. */
  | { readonly kind: "full"; readonly roomKiB: number; readonly fullMs: number; readonly goesOnMs: number };

export interface Round {
  readonly fault: Fault;
  readonly starts: readonly Kind[];
  readonly actors: number;
  readonly pool: boolean;
  readonly maxResident: number | undefined;
}

/** Where a host may kill itself, and how often one execution of the mixed flow passes there at most. */
const POINTS = [
  { point: "opened", most: 0 },
  { point: "started", most: 1 },
  { point: "appended", most: 33 },
  { point: "durable", most: 33 },
  { point: "effectStarted", most: 11 },
  { point: "effectFinished", most: 11 },
  { point: "once started", most: 1 },
  { point: "once finished", most: 1 },
  { point: "decided", most: 0 },
  { point: "resumed", most: 1 },
  { point: "ended", most: 1 },
] as const;

/** Points that a partition thread passes. */
const IN_THREADS = ["effectStarted", "effectFinished", "once started", "once finished"];

export function drawPoint(random: Random, executions: number): Fault {
  const { point, most } = pick(random, POINTS);
  return { kind: "point", point, count: between(random, 1, Math.max(1, most * executions)) };
}

export function drawThreadDeath(random: Random): Fault {
  const point = pick(random, IN_THREADS);
  return { kind: "thread", point, count: between(random, 1, point.startsWith("once") ? 2 : 12) };
}

export function drawRound(random: Random): Round {
  const actors = random() < 0.3 ? between(random, 1, 2) : 0;
  const starts = Array.from({ length: between(random, 4, 24) }, () => pick(random, KINDS));
  return {
    fault: drawFault(random, actors, starts.length),
    starts,
    actors,
    pool: random() < 0.5,
    maxResident: pick(random, [undefined, undefined, 0, 3]),
  };
}

function drawFault(random: Random, actors: number, executions: number): Fault {
  if (actors > 0 && random() < 0.2) return drawThreadDeath(random);
  const dice = random();
  if (dice < 0.44) return { kind: "moment", afterMs: between(random, 0, 500) };
  if (dice < 0.74) return drawPoint(random, Math.ceil(executions / 2));
  if (dice < 0.82) {
    return {
      kind: "stop",
      afterMs: between(random, 50, 400),
      forMs: between(random, 20, 300),
      goesOnMs: between(random, 0, 300),
    };
  }
  if (dice < 0.88) return { kind: "twins", afterMs: between(random, 50, 500) };
  if (dice < 0.95) {
    return {
      kind: "full",
      roomKiB: between(random, 0, 64),
      fullMs: between(random, 100, 600),
      goesOnMs: between(random, 0, 400),
    };
  }
  return { kind: "none" };
}
