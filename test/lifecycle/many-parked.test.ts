// C-LIF-03: many parked executions are cheap, and overdue work comes back in order without pushing new work aside.
//
// Scale: 100,000 parked at a gate and 10,000 sleepers overdue by hours; a tenth of both with HEDDLE_SMALL=1. One process
// makes the directory, another one opens it and measures. With HEDDLE_FIGURES=1 the figures are printed.

import { expect, it } from "vitest";
import { startChild } from "../crash/child.js";
import { temporaryDirectory } from "./world.js";

const SCALE = process.env["HEDDLE_SMALL"] === "1" ? 0.1 : 1;
const PARKED = 100_000 * SCALE;
const SLEEPING = 10_000 * SCALE;

interface Figures {
  readonly readyMs: number;
  readonly drainMs: number;
  readonly newcomers: number;
  readonly newcomerMaxMs: number;
  readonly inOrder: boolean;
  readonly woken: number;
  readonly heapMb: { readonly before: number; readonly ready: number; readonly after: number };
  readonly running: number;
  readonly suspended: number;
}

async function run(mode: string, dir: string): Promise<Figures> {
  const child = startChild(new URL("./programs/many-parked.mjs", import.meta.url), {
    nodeArgs: ["--expose-gc"],
    args: [mode, dir, String(PARKED), String(SLEEPING)],
  });
  const { code, stderr } = await child.ended;
  expect({ code, stderr }, mode).toEqual({ code: 0, stderr: "" });
  const [figures = ""] = child.lines;
  if (process.env["HEDDLE_FIGURES"] === "1") process.stdout.write(`${mode}: ${figures}\n`);
  return JSON.parse(figures) as Figures;
}

it(`C-LIF-03: ${PARKED} parked executions and ${SLEEPING} overdue timers: ready at once, flat in memory, oldest first`, {
  timeout: 120_000,
}, async () => {
  const dir = temporaryDirectory();
  await run("build", dir);
  const figures = await run("open", dir);
  expect(figures.readyMs).toBeLessThan(1_000);
  const { before, ready, after } = figures.heapMb;
  expect(ready - before, "megabytes on opening").toBeLessThan(10);
  expect(after - before, "megabytes once nothing but parked executions is left").toBeLessThan(20);
  expect(figures).toMatchObject({ inOrder: true, woken: SLEEPING, running: 0, suspended: PARKED });
  // New work gets its turn between the portions of overdue work, instead of after all of it.
  expect(figures.newcomers).toBeGreaterThanOrEqual(4);
  expect(figures.newcomerMaxMs).toBeLessThan(figures.drainMs * 0.5);
});
