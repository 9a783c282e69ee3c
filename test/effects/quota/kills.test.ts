// Goal: what has been used is what the log says was used, after any number of kills, and a budget is kept over all of them.
// Method: a real host on a real log kills itself with SIGKILL at a different event each time, until one gets to the end.
// Calls leave their mark in a file beside the log, which no transaction takes back.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { LmdbEventStore, type Totals, type Used } from "../../../src/kernel/index.js";
import { startChild } from "../../crash/child.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";

const PROGRAM = new URL("./programs/spending-host.mjs", import.meta.url);
const EXECUTIONS = 12;
const STEPS = 6;

const NOTHING: Totals = { calls: 0, tokens: 0, cost: 0, wallMs: 0 };

/** What the logs of all executions say was used. */
async function usedByTheLogs(dir: string): Promise<Totals> {
  const store = new LmdbEventStore({ dir, now: Date.now, createdBy: "a test", create: false });
  const logs = await Promise.all(Array.from({ length: EXECUTIONS }, (_, i) => store.read(`x${i}`)));
  await store.close();
  return logs
    .flat()
    .filter(({ type }) => ["STEP_COMPLETED", "STEP_FAILED", "EFFECT_METERED"].includes(type))
    .flatMap(({ payload }) => (payload as { used?: Used }).used ?? [])
    .reduce<Totals>(
      (sum, { tokens = 0, cost = 0, wallMs = 0 }) => ({
        calls: sum.calls + 1,
        tokens: sum.tokens + tokens,
        cost: sum.cost + cost,
        wallMs: sum.wallMs + wallMs,
      }),
      NOTHING,
    );
}

test.each([
  ["more than is asked for", 1_000],
  ["less than is asked for", 30],
])("killed again and again, a host uses what its logs say, under a limit of %s", async (_what, limit) => {
  const dir = temporaryDirectory();
  const calls = join(dir, "calls");
  const options = { dir: join(dir, "log"), calls, executions: EXECUTIONS, steps: STEPS, limit };
  let kills = 0;
  let line = "";
  // Each gets further than the one before, whatever is recovered first.
  for (let dieAt = 5; line === ""; dieAt += 23) {
    const child = startChild(PROGRAM, { args: [JSON.stringify({ ...options, dieAt })] });
    const { signal, code, stderr } = await child.ended;
    if (signal === "SIGKILL") kills++;
    else expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    line = child.lines[0] ?? "";
  }
  expect(kills).toBeGreaterThanOrEqual(3);
  const { tenant, flow, today } = JSON.parse(line) as Record<"tenant" | "flow" | "today", Totals>;
  const logged = await usedByTheLogs(options.dir);
  for (const used of [tenant, flow, today]) {
    expect(used).toMatchObject({ calls: logged.calls, tokens: logged.tokens });
    expect(used.cost).toBeCloseTo(logged.cost, 9);
    expect(used.wallMs).toBe(logged.wallMs);
  }
  // What was cut off counts as a call, so no call was made that does not count.
  const made = readFileSync(calls, "utf8").trim().split("\n").length;
  expect(made).toBeLessThanOrEqual(tenant.calls);
  expect(tenant.calls).toBeLessThanOrEqual(limit);
  if (limit < EXECUTIONS * STEPS) expect(tenant.calls).toBe(limit);
  else expect(made).toBeGreaterThanOrEqual(EXECUTIONS * STEPS);
});
