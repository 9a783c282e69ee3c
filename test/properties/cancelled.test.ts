// Goal: a flow that is called off ends as its log says it does, whenever the cancel or the deadline comes, however it cleans up,
// and whatever becomes of the process meanwhile.
// Method: random programs with shields, deadlines and effects that may not run twice, run resident, passivated at every point, and
// through processes that die. fast-check prints the seed and the smallest program.

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { EventEnvelope, ExecutionState, Used } from "../../src/kernel/index.js";
import type { CrashPlan } from "../support/tapped-store.js";
import { type ProcessOptions, unhandledRejections, World } from "../support/world.js";
import { type Around, around, type Calls, Course, calls, type Node, program } from "./cancelled-program.js";
import { pace, runs, SCALE } from "./search.js";

/** Longer than any effect takes. */
const AFTERWARDS = 100_000;

/** Without budgets of one execution that throttle: which window an attempt is told to wait for is a guess kept in memory. */
const aroundAll = around.filter(({ budget }) => budget?.scope !== "execution");

interface Outcome {
  readonly state: ExecutionState;
  readonly events: readonly EventEnvelope[];
  readonly world: World;
  readonly course: Course;
  readonly around: Around;
}

async function runThrough(
  node: Node,
  calls: Calls,
  around: Around,
  options: ProcessOptions = {},
  crashes: (process: number) => (CrashPlan & { downMs: number }) | undefined = () => undefined,
): Promise<Outcome> {
  const world = World.memory();
  const course = new Course(world, calls);
  const flow = course.flowOf(node);
  for (let count = 0; count < 200; count++) {
    const crash = crashes(count);
    const layers = course.ringOf(around);
    const process = await world.open([flow], {
      ...options,
      ...layers,
      ...(crash && { crash }),
      onDurableEvent: ({ type, timestamp }) => course.hear(type, timestamp),
    });
    const state = await course.live(process, flow);
    if (!state) {
      await process.kill();
      for (const { type, timestamp } of await world.events()) course.hear(type, timestamp);
      world.clock.jump(crash?.downMs ?? 0);
      continue;
    }
    await world.pass(AFTERWARDS);
    expect(await process.store.timers(), "no timer is left").toEqual([]);
    expect(process.warnings).toEqual([]);
    await process.kill();
    const events = await world.events();
    if (around.budget?.scope === "flow")
      expect(layers.ledger?.used({ scope: "flow", of: "program", meter: "calls" })).toBe(callsIn(events));
    return { state, events, world, course, around };
  }
  throw new Error("No process got to the end.");
}

/** Attempts that count. */
function callsIn(events: readonly EventEnvelope[]): number {
  const isCounted = ({ type, payload }: EventEnvelope): boolean =>
    OVER.has(type) && (payload as { used?: Used }).used !== undefined;
  return events.filter(isCounted).length;
}

const OVER = new Set(["STEP_COMPLETED", "STEP_FAILED", "EFFECT_METERED"]);

/** What holds of any log of an execution that was called off. */
function check({ state, events, course, around }: Outcome): void {
  const types = events.map(({ type }) => type);
  const end = types.findIndex((type) => type.startsWith("EXECUTION_") && ENDS.has(type));
  expect(types.slice(end + 1).filter((type) => type !== "OUTCOME_LATE")).toEqual([]);
  const told = types.indexOf("CANCEL_REQUESTED");
  expect(types.lastIndexOf("CANCEL_REQUESTED")).toBe(told);
  if (told >= 0) expect(state.status).toBe("cancelled");
  for (const { type, payload, sequence } of events) {
    const { shielded } = (payload ?? {}) as { shielded?: true };
    if (told < 0 || sequence < told) continue;
    if (type === "STEP_STARTED" || type === "EXECUTION_SUSPENDED") expect(shielded).toBe(true);
  }
  const { budget } = around;
  const isCut = course.calls.forceAfter !== undefined || budget?.onExceeded === "end";
  const count = (name: string): number => types.filter((type) => type === name).length;
  if (budget && budget.perMs === undefined) expect(callsIn(events)).toBeLessThanOrEqual(budget.limit);
  if (!isCut) expect(count("ShieldThrough"), "every shield is through").toBe(count("ShieldBegun"));
  expect(course.tooLate, "effects that began after the cancel").toEqual([]);
  for (const [stepId, ran] of course.unaccounted) expect(ran, `${stepId} ran twice`).toBeLessThanOrEqual(1);
}

const ENDS = new Set(["EXECUTION_COMPLETED", "EXECUTION_FAILED", "EXECUTION_CANCELLED"]);

describe("C-SUS-06, A2, C-LIF-01: random programs that are called off", {
  timeout: 60_000 * Math.max(1, SCALE),
}, () => {
  test("write the same log passivated at every point", async () => {
    const rejections = unhandledRejections();
    await fc.assert(
      fc.asyncProperty(program, calls, aroundAll, async (node, calls, around) => {
        const resident = await runThrough(node, calls, around, { maxResident: 10_000 });
        const passivated = await runThrough(node, calls, around, { maxResident: 0 });
        check(resident);
        expect(passivated.events).toEqual(resident.events);
        expect(passivated.world.runs).toEqual(resident.world.runs);
      }),
      runs(200),
    );
    expect(rejections).toEqual([]);
  });

  test("end as they have to through processes that die", async () => {
    const rejections = unhandledRejections();
    await fc.assert(
      fc.asyncProperty(
        program,
        calls,
        around,
        fc.array(
          fc.record({
            commit: fc.integer({ min: 1, max: 5 }),
            kept: fc.boolean(),
            downMs: fc.constantFrom(0, 0, 5, 30),
          }),
          { maxLength: 8 },
        ),
        fc.boolean(),
        pace,
        async (node, calls, around, plans, isResident, pace) => {
          const maxResident = isResident ? 10_000 : 0;
          check(await runThrough(node, calls, around, { maxResident, pace }, (process) => plans[process]));
        },
      ),
      runs(250),
    );
    expect(rejections).toEqual([]);
  });

  test("go on from any prefix of their log", async () => {
    await fc.assert(
      fc.asyncProperty(program, calls, around, fc.nat(), async (node, calls, around, cut) => {
        const { world } = await runThrough(node, calls, around);
        const records = await world.records();
        const entries = records.flatMap(({ events, timestamp }) =>
          events.map((event) => ({ event, timestamp })),
        );
        const end = entries.findIndex(({ event }) => ENDS.has(event.type));
        const length = 1 + (cut % end);
        const fork = World.memory();
        const course = new Course(fork, calls);
        const flow = course.flowOf(node);
        await fork.write(
          flow,
          entries
            .slice(0, length)
            .map(({ event, timestamp }, sequence) => ({ sequence, timestamp, events: [event] })),
        );
        const process = await fork.open([flow], course.ringOf(around));
        const state = await course.live(process, flow);
        await fork.pass(AFTERWARDS);
        await process.kill();
        expect(process.warnings).toEqual([]);
        if (entries.slice(0, length).some(({ event }) => event.type === "CANCEL_REQUESTED"))
          expect(state?.status).toBe("cancelled");
        expect((await fork.records()).flatMap(({ events }) => events).slice(0, length)).toEqual(
          entries.slice(0, length).map(({ event }) => event),
        );
      }),
      runs(150),
    );
  });
});
