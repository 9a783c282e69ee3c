// Goal: whatever a flow does, what it comes to does not depend on crashes, on passivation or on where its log is cut.
// Method: random programs, each run undisturbed and then disturbed. fast-check prints the seed and the smallest program.

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ExecutionState, LogRecord } from "../../src/kernel/index.js";
import { essence, runThroughCrashes } from "../support/crashing.js";
import { type ProcessOptions, unhandledRejections, World } from "../support/world.js";
import { answersOf, flowOf, hasRace, type Node, program, RACER } from "./program.js";
import { pace, runs, SCALE } from "./search.js";

async function undisturbed(node: Node, options: ProcessOptions = {}) {
  const world = World.memory();
  const flow = flowOf(node, world);
  const durable: number[] = [];
  const process = await world.open([flow], {
    ...options,
    onDurableEvent: ({ sequence }) => void durable.push(sequence),
  });
  await process.start(flow, null);
  const state = await process.finish("x", answersOf(node));
  const timers = await process.store.timers();
  await process.kill();
  expect(durable, "P3: events become durable in their order").toEqual(durable.map((_, index) => index));
  return { world, state, timers, commits: process.store.commits };
}

/** The essence, without the branches of races: how far a loser got is a matter of time. */
function outcome(state: ExecutionState): unknown {
  const frames = Object.fromEntries(
    Object.entries(state.frames).filter(([id]) => !id.startsWith(`step${RACER}`)),
  );
  return essence({ ...state, frames });
}

describe("C-LIF-01, C-REP-03: random programs", { timeout: 60_000 * Math.max(1, SCALE) }, () => {
  test("A2: write the same log passivated at every point", async () => {
    const rejections = unhandledRejections();
    await fc.assert(
      fc.asyncProperty(program, pace, async (node, pace) => {
        const resident = await undisturbed(node, { pace });
        const passivated = await undisturbed(node, { pace, maxResident: 0 });
        expect(await passivated.world.events()).toEqual(await resident.world.events());
        expect(passivated.world.runs).toEqual(resident.world.runs);
        expect(passivated.timers).toEqual([]);
      }),
      runs(120),
    );
    expect(rejections).toEqual([]);
  });

  test("come to the same after a crash at any commit, kept or lost", async () => {
    const rejections = unhandledRejections();
    await fc.assert(
      fc.asyncProperty(
        program,
        fc.nat(),
        fc.boolean(),
        fc.boolean(),
        pace,
        async (node, at, kept, isResident, pace) => {
          const { state, commits } = await undisturbed(node, { pace });
          const plan = { commit: 1 + (at % commits), kept };
          const make = (world: World) => flowOf(node, world);
          const scenario = { name: "program", make, answers: answersOf(node) };
          const maxResident = isResident ? 10_000 : 0;
          const run = await runThroughCrashes(scenario, (process) => (process === 0 ? plan : undefined), {
            maxResident,
            pace,
          });
          expect(outcome(run.state)).toEqual(outcome(state));
          await run.world.process?.kill();
        },
      ),
      runs(150),
    );
    expect(rejections).toEqual([]);
  });

  test("come to the same through processes that each die after a few commits", async () => {
    const rejections = unhandledRejections();
    await fc.assert(
      fc.asyncProperty(
        program,
        fc.integer({ min: 2, max: 5 }),
        fc.integer({ min: 2, max: 5 }),
        pace,
        async (node, odd, even, pace) => {
          const { state } = await undisturbed(node);
          const scenario = {
            name: "program",
            make: (world: World) => flowOf(node, world),
            answers: answersOf(node),
          };
          const run = await runThroughCrashes(
            scenario,
            (process) => ({ commit: process % 2 ? odd : even, kept: true }),
            { pace },
          );
          expect(outcome(run.state)).toEqual(outcome(state));
          await run.world.process?.kill();
        },
      ),
      runs(100),
    );
    expect(rejections).toEqual([]);
  });

  test("P4: come to the same after a commit that fails, and keep what was acknowledged", async () => {
    const rejections = unhandledRejections();
    await fc.assert(
      fc.asyncProperty(program, fc.nat(), fc.boolean(), pace, async (node, at, isResident, pace) => {
        const { state, commits } = await undisturbed(node, { pace });
        const world = World.memory();
        const flow = flowOf(node, world);
        const failAt = 1 + (at % commits);
        const process = await world.open([flow], { pace, failAt, maxResident: isResident ? 10_000 : 0 });
        let recorded = 0;
        const completed = new Map<string, number>();
        process.store.onCommit = ({ executions }) => {
          for (const { record } of executions) {
            recorded += record?.events.length ?? 0;
            for (const event of record?.events ?? [])
              if (event.type === "STEP_COMPLETED") completed.set(event.stepId, world.ran(event.stepId));
          }
        };
        const start = () => world.until(process.runtime.start(flow, null, { executionId: "x" }));
        await start().catch(() => world.pass(60_000).then(start));
        const final = await process.finish("x", answersOf(node));
        const timers = await process.store.timers();
        await process.kill();
        expect(outcome(final)).toEqual(outcome(state));
        expect((await world.events()).map(({ sequence }) => sequence)).toEqual(
          Array.from({ length: recorded }, (_, i) => i),
        );
        for (const [stepId, runs] of completed) expect(world.ran(stepId), stepId).toBe(runs);
        expect(timers).toEqual([]);
      }),
      runs(120),
    );
    expect(rejections).toEqual([]);
  });

  test("C-SUS-06: cancelled at any commit, end there and do nothing more", async () => {
    const rejections = unhandledRejections();
    await fc.assert(
      fc.asyncProperty(program, fc.nat(), fc.boolean(), pace, async (node, at, isResident, pace) => {
        const { commits } = await undisturbed(node, { pace });
        const world = World.memory();
        const flow = flowOf(node, world);
        const process = await world.open([flow], { pace, maxResident: isResident ? 10_000 : 0 });
        const cancelAt = 1 + (at % commits);
        let cancelled: Promise<unknown> = Promise.resolve();
        process.store.onCommit = () => {
          if (process.store.commits === cancelAt)
            cancelled = process.runtime.cancel("x").catch((error: { code: string }) => error.code);
        };
        await process.start(flow, null);
        const final = await process.finish("x", answersOf(node));
        await world.until(cancelled);
        const [events, ran] = [await world.events(), new Map(world.runs)];
        await world.pass(6_000_000_000);
        const after = await world.events();
        expect(after.filter(({ type }) => type !== "OUTCOME_LATE")).toEqual(
          events.filter(({ type }) => type !== "OUTCOME_LATE"),
        );
        expect(world.runs).toEqual(ran);
        expect(await process.store.timers()).toEqual([]);
        // Cancelled, unless the end was already under way; the caller is told which.
        expect(await cancelled).toBe(final.status === "cancelled" ? undefined : "EXECUTION_ENDED");
        if (cancelAt < commits - 1) expect(final.status).toBe("cancelled");
        await process.kill();
      }),
      runs(120),
    );
    expect(rejections).toEqual([]);
  });

  test("C-SUS-03: answered by everybody at once, take one answer a gate", async () => {
    await fc.assert(
      fc.asyncProperty(program, fc.boolean(), pace, async (node, isResident, pace) => {
        const { state } = await undisturbed(node, { pace });
        const world = World.memory();
        const flow = flowOf(node, world);
        const answers = answersOf(node);
        const pending: Promise<unknown>[] = [];
        const process = await world.open([flow], {
          pace,
          maxResident: isResident ? 10_000 : 0,
          onDurableEvent: ({ type, payload, executionId }) => {
            const { on } = (payload ?? {}) as { on?: string };
            if (type !== "EXECUTION_SUSPENDED" || on === undefined || !(on in answers)) return;
            for (const sender of ["a", "b", "a", "c", "a"]) {
              pending.push(
                process.runtime
                  .resume(executionId, { eventType: on, payload: answers[on], requestId: sender })
                  .then(
                    () => sender,
                    (error: { code: string }) => error.code,
                  ),
              );
            }
          },
        });
        await process.start(flow, null);
        const final = await process.finish("x");
        const told = await world.until(Promise.all(pending));
        expect(outcome(final)).toEqual(outcome(state));
        for (let i = 0; i < told.length; i += 5) {
          const five = told.slice(i, i + 5);
          if (five[0] === "EXECUTION_ENDED") continue; // the gate of a loser: its flow was through
          expect(five).toEqual(["a", "GATE_ALREADY_RESOLVED", "a", "GATE_ALREADY_RESOLVED", "a"]);
        }
        await process.kill();
      }),
      runs(100),
    );
  });

  test("go on from any prefix of their log as if they had never stopped", async () => {
    await fc.assert(
      fc.asyncProperty(
        program.filter((node) => !hasRace(node)),
        fc.nat(),
        async (node, cut) => {
          const { world, state } = await undisturbed(node);
          const events = (await world.records()).flatMap(({ events, timestamp }) =>
            events.map((event) => ({ event, timestamp })),
          );
          const length = 1 + (cut % (events.length - 1));
          const prefix = events
            .slice(0, length)
            .map(({ event, timestamp }, sequence): LogRecord => ({ sequence, timestamp, events: [event] }));
          const fork = World.memory();
          const flow = flowOf(node, fork);
          await fork.write(flow, prefix);
          const process = await fork.open([flow]);
          const forked = await process.finish("x", answersOf(node));
          await process.kill();
          expect(outcome(forked)).toEqual(outcome(state));
          expect((await fork.records()).flatMap((record) => record.events).slice(0, length)).toEqual(
            events.slice(0, length).map(({ event }) => event),
          );
        },
      ),
      runs(150),
    );
  });
});
