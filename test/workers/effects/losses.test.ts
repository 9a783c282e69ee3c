// C-EFF-01 in an app: executions whose middle step takes its worker down the first time, beside healthy ones. What ran is
// counted outside, in a file; what was charged is read from the log.
//
// A thread takes longer to begin than anything a step does here, so the short form loses fewer of them. Long form:
// HEDDLE_EFFECT_LOSSES=1000 npx vitest run test/workers/effects/losses.test.ts

import type { HeddleApp } from "heddle";
import { expect, it } from "vitest";
import { temporaryDirectory, within } from "../partitions/world.js";
import { flowOf, type Mark, openApp, outsideCount, tally, typesOf } from "./world.js";

const LOSSES = Number(process.env["HEDDLE_EFFECT_LOSSES"] ?? 100);
const LIMIT_MS = 30_000 + LOSSES * 300;
const THREADS = 2;
const POOL = {
  module: new URL("./programs/fragile-effects.mjs", import.meta.url),
  minThreads: THREADS,
  maxThreads: THREADS,
};

const stepOf = ({ executionId, stepId }: Mark): string => `${executionId} ${stepId}`;
const attemptOf = (mark: Mark): string => `${stepOf(mark)} ${mark.attempt}`;
const isCulprit = ({ executionId, stepId }: Mark): boolean =>
  executionId.startsWith("fragile") && stepId === "middle";

/** Runs them all to their ends, and gives what was seen of them outside. */
async function runAll(app: HeddleApp, ms: number): Promise<readonly Mark[]> {
  const { file, marks } = outsideCount();
  await app.start();
  const run = async (name: string, n: number): Promise<unknown> => {
    const handle = await app.runtime.start(flowOf(name), { file, ms }, { executionId: `${name}-${n}` });
    return handle.result();
  };
  const numbers = Array.from({ length: LOSSES }, (_, n) => n);
  const [fragile, healthy] = await within(
    Promise.all([
      Promise.all(numbers.map((n) => run("fragile", n))),
      Promise.all(numbers.map((n) => run("healthy", n))),
    ]),
    "all of them finish",
    LIMIT_MS,
  );
  expect(fragile).toEqual(numbers.map(() => [1, "recovered", 3]));
  expect(healthy).toEqual(numbers.map(() => [1, 2, 3]));
  return marks();
}

/** Only culprits are charged: each one attempt, in the log of each. */
async function expectFairCharges(app: HeddleApp): Promise<void> {
  for (let n = 0; n < LOSSES; n++) {
    expect((await typesOf(app, `healthy-${n}`)).filter((type) => type === "STEP_RETRIED")).toEqual([]);
    const retried = (await app.stores.eventStore.read(`fragile-${n}`)).filter(
      ({ type }) => type === "STEP_RETRIED",
    );
    expect(retried.map(({ payload }) => payload)).toMatchObject([{ stepId: "middle" }]);
  }
}

/** Every thread that was lost has been replaced, none besides, and all of them work. */
async function expectSize(app: HeddleApp): Promise<void> {
  const file = `${temporaryDirectory()}/meeting`;
  // Calls that wait for each other, on threads that take one call each.
  await app.workers.tune({ callsPerThread: 1 });
  const meet = async (): Promise<unknown> => {
    const input = { toolId: "meet", input: { file, expected: THREADS } };
    return (await app.runtime.start(flowOf("single"), input)).result();
  };
  const places = await within(Promise.all(Array.from({ length: THREADS }, meet)), "they meet");
  expect(new Set(places).size).toBe(THREADS);
  const { effects } = await app.workers.stats();
  expect(effects).toMatchObject({ lostThreads: LOSSES, running: 0, queued: 0 });
  expect(effects?.threads.length).toBe(THREADS);
}

it(`C-EFF-01: ${LOSSES} steps that take their thread down cost nobody else anything, where threads are not shared`, {
  timeout: LIMIT_MS + 30_000,
}, async () => {
  const app = openApp({ pool: { ...POOL, callsPerThread: 1 } });
  const marks = await runAll(app, 0);
  // Every attempt once, and a second one of the culprits only.
  const begun = marks.filter(({ what }) => what === "begin");
  expect([...tally(begun.map(attemptOf)).values()].every((count) => count === 1)).toBe(true);
  expect(begun.filter(({ attempt }) => attempt !== 1).every(isCulprit)).toBe(true);
  expect(begun.length).toBe(LOSSES * 7);
  expect(marks.filter(({ what }) => what === "end").length).toBe(LOSSES * 6);
  await expectFairCharges(app);
  await expectSize(app);
});

it(`C-EFF-01: beside ${LOSSES} steps that take their thread down, what shares it runs again as if for the first time`, {
  timeout: LIMIT_MS + 30_000,
}, async () => {
  const app = openApp({ pool: { ...POOL, callsPerThread: 64 } });
  const marks = await runAll(app, 5);
  const begun = marks.filter(({ what }) => what === "begin");
  // Neighbours were cut short, or this shows nothing.
  expect(begun.length).toBeGreaterThan(LOSSES * 7);
  expect(begun.filter((mark) => mark.attempt !== 1).every(isCulprit)).toBe(true);
  for (const { executionId, stepId, key } of begun) expect(key).toBe(`${executionId}/${stepId}`);
  // However often a step began, it got to its end once, and what had got there was not done again.
  const ended = marks.filter(({ what }) => what === "end");
  expect(ended.length).toBe(LOSSES * 6);
  expect(tally(ended.map(stepOf)).size).toBe(LOSSES * 6);
  expect(begun.filter(isCulprit).length).toBe(LOSSES * 2);
  await expectFairCharges(app);
  await expectSize(app);
});
