// Crashing: runs a scenario through processes that die, and notes what may not happen twice.

import { expect } from "vitest";
import type { ExecutionState } from "../../src/kernel/index.js";
import type { Scenario } from "./scenarios.js";
import type { CrashPlan } from "./tapped-store.js";
import { type Process, type ProcessOptions, World } from "./world.js";

export interface CrashRun {
  readonly state: ExecutionState;
  readonly world: World;
  /** Processes it took. */
  readonly processes: number;
}

/** The plan of the n-th process, counted from 0; undefined when it may live. */
export type CrashSchedule = (process: number) => CrashPlan | undefined;

export interface CrashOptions {
  readonly world?: World;
  readonly maxResident?: number;
  readonly pace?: ProcessOptions["pace"];
}

const PROCESSES_MAX = 400;

export async function runThroughCrashes(
  { make, answers }: Scenario,
  schedule: CrashSchedule,
  { world = World.memory(), maxResident = 10_000, pace }: CrashOptions = {},
): Promise<CrashRun> {
  const flow = make(world);
  /** Runs of every step when its completion was first found in the log. */
  const completedAfter = new Map<string, number>();
  for (let count = 0; count < PROCESSES_MAX; count++) {
    const crash = schedule(count);
    const process = await world.open([flow], { maxResident, ...(crash && { crash }), ...(pace && { pace }) });
    const state = process.store.isDead ? undefined : await liveOn(world, process, flow, answers ?? {});
    if (state) {
      checkRuns(world, completedAfter);
      return { state, world, processes: count + 1 };
    }
    await process.kill();
    for (const { type, payload } of await world.events()) {
      if (type !== "STEP_COMPLETED") continue;
      const { stepId } = payload as { stepId: string };
      if (!completedAfter.has(stepId)) completedAfter.set(stepId, world.ran(stepId));
    }
  }
  throw new Error(`No process out of ${PROCESSES_MAX} got to the end.`);
}

async function liveOn(
  world: World,
  process: Process,
  flow: ReturnType<Scenario["make"]>,
  answers: NonNullable<Scenario["answers"]>,
): Promise<ExecutionState | undefined> {
  const died = process.crashed.then(() => undefined);
  const started = process.runtime.start(flow, null, { executionId: "x" });
  await world.until(Promise.race([started, died]));
  if (process.store.isDead) return undefined;
  try {
    return await process.finish("x", answers);
  } catch (error) {
    if (process.store.isDead) return undefined;
    throw error;
  }
}

/** A step whose completion is in the log has not run again since. */
function checkRuns(world: World, completedAfter: ReadonlyMap<string, number>): void {
  const runs = new Map([...completedAfter.keys()].map((stepId) => [stepId, world.ran(stepId)]));
  expect(runs).toEqual(completedAfter);
}

/** What an execution came to, free of anything that depends on when and in how many attempts. */
export function essence(state: ExecutionState): unknown {
  const { status, variables, error } = state;
  const completed = Object.values(state.frames)
    .filter((frame) => frame.status === "completed")
    .map(({ stepId, input, output }) => ({ stepId, input, output }))
    .sort((a, b) => (a.stepId < b.stepId ? -1 : 1));
  return { status, variables, error, completed };
}
