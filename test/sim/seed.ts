// Seed: what one number stands for, and what came of it. A seed that fails is run again with less, until nothing can be left out.

import type { ExecutionState } from "../../src/kernel/index.js";
import type { Subject } from "../../src/testing/sim/clients.js";
import { activeFaults, type Faults, NO_FAULTS, swarm, without } from "../../src/testing/sim/faults.js";
import { Violation } from "../../src/testing/sim/observation.js";
import { SimRandom } from "../../src/testing/sim/random.js";
import type { Tamper } from "../../src/testing/sim/sim-store.js";
import { Simulation, type SimulationResult } from "../../src/testing/sim/simulation.js";
import { lineOf } from "../../src/testing/sim/trace.js";
import { essence } from "../support/crashing.js";
import {
  answerTo,
  flowOf,
  isSteady,
  type Program,
  randomProgram,
  registerEffects,
  type Stage,
  smaller,
} from "./program.js";

const TRACE_SHOWN = 80;
const RESEEDED = 6;

/** Everything a run depends on. */
export interface Scene {
  readonly seed: number;
  readonly faults: Faults;
  readonly faultTicks: number;
  readonly partitions: number;
  readonly programs: readonly Program[];
}

export function sceneOf(seed: number): Scene {
  const random = new SimRandom(seed).fork("scene");
  const faults = swarm(random.fork("faults"));
  const programs = Array.from({ length: random.pick([1, 1, 2, 3]) }, (_, index) =>
    randomProgram(random.fork(`program ${index}`)),
  );
  return {
    seed,
    faults,
    faultTicks: random.pick([50, 150, 400]),
    partitions: random.pick([1, 1, 2]),
    programs,
  };
}

/** A seed that did not hold, with the least that shows it. */
export interface Finding {
  readonly seed: number;
  readonly violation: Violation;
  readonly least: Scene;
  readonly trace: readonly string[];
}

/** Runs a scene twice: it has to hold, and to come out the same. */
export async function judge(scene: Scene): Promise<Finding | undefined> {
  const first = await play(scene);
  const again = first.violation ? first : await play(scene);
  const violation = first.violation ?? again.violation ?? changed(first, again);
  if (!violation) return undefined;
  const least = await shrink(scene, violation.rule);
  const shown = await play(least);
  return {
    seed: scene.seed,
    violation: shown.violation ?? violation,
    least,
    trace: shown.entries.map(lineOf),
  };
}

/** What to print of it. */
export function report({ seed, violation, least, trace }: Finding): string {
  return [
    `Seed ${seed} does not hold. ${violation.message}`,
    ...trace.slice(-TRACE_SHOWN),
    `Run it again: npm run sim -- --seed ${seed}`,
    `Run the least that shows it: npm run sim -- --scene '${JSON.stringify(least)}'`,
  ].join("\n");
}

function changed(first: SimulationResult, again: SimulationResult): Violation | undefined {
  const [before = [], after = []] = [first, again].map(({ entries }) => entries.map(lineOf));
  for (let at = 0; at < Math.max(before.length, after.length); at++)
    if (before[at] !== after[at])
      return new Violation("same seed", `two runs differ at ${before[at]} and ${after[at]}`);
  return undefined;
}

/** @param tamper breaks a rule on purpose */
export async function play(scene: Scene, tamper?: Tamper): Promise<SimulationResult> {
  const result = await playOnce(scene, tamper);
  return { ...result, violation: result.violation ?? (await otherEnd(scene, result)) };
}

async function playOnce({ programs, ...scene }: Scene, tamper?: Tamper): Promise<SimulationResult> {
  const stage: Stage = { delay: (milliseconds) => simulation.delay(milliseconds) };
  const random = new SimRandom(scene.seed).fork("subjects");
  const subjects = programs.map((program, index): Subject => {
    const { deadlineMs, cancelAtMs, forceAtMs } = program;
    return {
      executionId: `x${index}`,
      flow: flowOf(`program-${index}`, program, stage),
      input: { index },
      startAtMs: random.pick([0, 0, 5, 600]),
      deadlineMs,
      cancelAtMs,
      forceAtMs,
      answer: ({ on }) => answerTo(on),
      // In the end it is known: an effect that is always out of time would be tried for ever.
      verdict: (stepId, attempt) =>
        attempt > 2 ? "outcome" : (["outcome", "fail", "retry"] as const)[stepId.length % 3]!,
    };
  });
  const simulation = new Simulation({
    ...scene,
    flows: subjects.map(({ flow }) => flow),
    subjects,
    registerEffects,
    tamper,
  });
  return simulation.run();
}

/** Whatever went wrong, a program that depends on nothing but its inputs ends as if nothing had. */
async function otherEnd(scene: Scene, { ends }: SimulationResult): Promise<Violation | undefined> {
  const { programs, faults } = scene;
  // A lost worker uses up an attempt, and the step may have had no other.
  if (faults.workerLoss > 0 || !programs.some(isSteady)) return undefined;
  const calm = await playOnce({ ...scene, faults: NO_FAULTS, faultTicks: 0 });
  for (const [index, program] of programs.entries()) {
    if (!isSteady(program)) continue;
    const [state, expected] = [ends.get(`x${index}`), calm.ends.get(`x${index}`)].map(essenceOf);
    if (state !== expected)
      return new Violation("result", `x${index} ended as ${state}, undisturbed as ${expected}.`);
  }
  return undefined;
}

function essenceOf(state: ExecutionState | undefined): string {
  return JSON.stringify(state && essence(state));
}

// ── What failed, and the least that fails ───────────────────────────────────────────────────────────────────────

/** Leaves out whatever the violation of a rule does not need. Greedy: the first thing that can go, goes. */
export async function shrink(
  scene: Scene,
  rule: string,
  { triesMax = 300, tamper }: { readonly triesMax?: number; readonly tamper?: Tamper | undefined } = {},
): Promise<Scene> {
  let least = scene;
  for (let tries = 0; tries < triesMax; ) {
    let found: Scene | undefined;
    for (const candidate of lessThan(least)) {
      if (++tries > triesMax) break;
      if ((await play(candidate, tamper)).violation?.rule !== rule) continue;
      found = candidate;
      break;
    }
    if (!found) break;
    least = found;
  }
  return least;
}

function* lessThan(scene: Scene): Generator<Scene> {
  const { programs, faults, faultTicks } = scene;
  if (programs.length > 1)
    for (const index of programs.keys()) {
      // With one program less everything is drawn in another order, so other seeds are tried as well.
      for (let other = 0; other < RESEEDED; other++)
        yield { ...scene, seed: scene.seed + other, programs: programs.toSpliced(index, 1) };
    }
  for (const name of activeFaults(faults)) yield { ...scene, faults: without(faults, name) };
  for (const [index, program] of programs.entries())
    for (const less of smaller(program)) yield { ...scene, programs: programs.with(index, less) };
  if (scene.partitions > 1) yield { ...scene, partitions: 1 };
  if (faultTicks > 5) yield { ...scene, faultTicks: Math.floor(faultTicks / 2) };
}
