// What leaves memory and comes back goes on as if it had stayed: the limit on idle executions changes what a turn costs,
// never what happens (both must write the same log). C-LIF-03.

import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { LoomApp } from "../../src/index.js";
import { flow, openApp, outcomeOf, step, temporaryDirectory, within } from "./world.js";

const LIMITS = [0, 1, 100];

/** A log without its times. */
async function logOf(app: LoomApp, id: string): Promise<string[]> {
  const events = await app.stores.eventStore.read(id);
  return events.map(({ type, payload }) => {
    const { wakeAt: _w, dueAt: _d, error: _e, ...said } = payload as Record<string, unknown>;
    return `${type} ${JSON.stringify(said)}`;
  });
}

describe.each(LIMITS)("maxResident %i", (maxResident) => {
  it("a decider that takes its time is heard, also when others pushed its execution out", async () => {
    const thinking = flow("thinking", (ctx, input) => ctx.decide("choice", () => delay(20, input)));
    const app = openApp({ flows: [thinking], execution: { maxResident } });
    const handles = await Promise.all(Array.from({ length: 5 }, (_, i) => app.runtime.start(thinking, i)));
    const results = await Promise.all(handles.map((handle, i) => within(handle.result(), `decision ${i}`)));
    expect(results).toEqual([0, 1, 2, 3, 4]);
  });

  it("a decider is asked once, whatever happens while it thinks", async () => {
    let asked = 0;
    const both = flow("both", (ctx) =>
      ctx.parallel([
        () =>
          ctx.decide("choice", async () => {
            asked++;
            await delay(30);
            return "chosen";
          }),
        () => ctx.suspend<string>({ on: "go" }),
        [step("quick", () => "quick"), 0],
      ]),
    );
    const app = openApp({ flows: [both], execution: { maxResident } });
    const handle = await app.runtime.start(both, 0, { executionId: "b" });
    await delay(10);
    await app.runtime.resume("b", { eventType: "go", payload: "gone" });
    expect(await within(handle.result(), "result")).toEqual(["chosen", "gone", "quick"]);
    expect(asked).toBe(1);
  });

  it("a failed attempt is repeated under the next number", async () => {
    const flaky = step("flaky", (_, { attempt }) => {
      if (attempt < 3) throw new Error("not yet");
      return attempt;
    });
    const retried = flow("retried", (ctx) =>
      ctx.run({ ...flaky, retry: { maxAttempts: 5, baseDelayMs: 5 } }, 0),
    );
    const app = openApp({ flows: [retried], execution: { maxResident } });
    const handle = await app.runtime.start(retried, 0, { executionId: "r" });
    expect(await within(handle.result(), "result")).toBe(3);
    expect(await logOf(app, "r")).toEqual([
      'EXECUTION_STARTED {"flowId":"retried","flowVersion":"1","input":0,"flags":[]}',
      'STEP_STARTED {"stepId":"flaky","input":0,"kind":"step"}',
      'STEP_RETRIED {"stepId":"flaky","attempt":2,"reason":"failed"}',
      'STEP_RETRIED {"stepId":"flaky","attempt":3,"reason":"failed"}',
      'STEP_COMPLETED {"stepId":"flaky","output":3}',
      'EXECUTION_COMPLETED {"output":3}',
    ]);
  });

  it("leaves no timer behind a gate that was resolved before its timeout", async () => {
    const dir = temporaryDirectory();
    const gated = flow("gated", (ctx) => ctx.suspend({ on: "go", timeout: 3_600_000 }));
    const app = openApp({ dir, flows: [gated], execution: { maxResident } });
    const handle = await app.runtime.start(gated, 0, { executionId: "g" });
    await within(handle.waitForSuspend(), "gate");
    await app.runtime.resume("g", { eventType: "go", payload: 1 });
    await within(handle.result(), "result");
    await app.close();
    const { stores } = openApp({ dir, autostart: false });
    expect(await (await stores.eventStore.open(0)).nextTimer(-Infinity)).toBeUndefined();
  });

  it("a wait for a gate that is open already ends, also after a resume that was refused", async () => {
    const dir = temporaryDirectory();
    const gated = flow("gated", (ctx) => ctx.suspend({ on: "go" }), {
      resumeSchemas: { go: z.object({ ok: z.boolean() }) },
    });
    const before = openApp({ dir, flows: [gated], execution: { maxResident } });
    await within((await before.runtime.start(gated, 0, { executionId: "g" })).waitForSuspend(), "gate");
    await before.close();

    const after = openApp({ dir, flows: [gated], execution: { maxResident } });
    const refused = after.runtime.resume("g", { eventType: "go", payload: { ok: "no" } });
    const early = after.runtime.handle("g").waitForSuspend();
    expect(await outcomeOf(refused)).toBe("RESUME_PAYLOAD_INVALID");
    expect((await within(early, "a wait from before the refusal")).status).toBe("suspended");
    expect((await within(after.runtime.handle("g").waitForSuspend(), "a wait after it")).status).toBe(
      "suspended",
    );
    expect((await within(after.runtime.handle("g").settled(), "settled")).status).toBe("suspended");
  });
});
