// Goal: what a task says of its one step, its `expand` and its `signal`, holds for an effect of the pool as it does inline.
// Method: flows in the host's thread, whose tasks a test can hold; effects in the pool's.

import {
  defineFlow,
  type ExecutableTask,
  flow$,
  type HeddleApp,
  type HeddleError,
  type RegisteredFlow,
} from "heddle";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { until, within } from "../partitions/world.js";
import { eventsOf, openApp, outsideCount, typesOf } from "./world.js";

function flowOf(task: ExecutableTask): RegisteredFlow {
  return defineFlow(
    flow$({ id: "f", version: "1", inputSchema: z.unknown(), outputSchema: z.unknown() }),
    async (ctx, input) => {
      try {
        return await ctx.execute(task, input);
      } catch (error) {
        const { name, code, channel, payload, cause } = error as Record<string, unknown>;
        return { name, code, channel, payload, cause: (cause as Error | undefined)?.message };
      }
    },
  );
}

function appWith(flow: RegisteredFlow, pool = {}): HeddleApp {
  return openApp({ flowModules: [{ flow }], pool });
}

describe("on a thread of the pool", () => {
  it("an effect is given the expanded input, and the log holds the short one", async () => {
    const expand = (word: unknown): unknown => ({ sentence: `the whole of ${String(word)}` });
    const flow = flowOf({ id: "step", toolId: "echo", expand });
    const app = appWith(flow);
    const handle = await app.runtime.start(flow, "a", { executionId: "x" });
    expect(await within(handle.result(), "result")).toEqual({ sentence: "the whole of a" });
    const [started] = (await eventsOf(app, "x")).filter(({ type }) => type === "STEP_STARTED");
    expect(started?.payload).toMatchObject({ input: "a" });
  });

  it("an effect that throws the reason its signal was aborted for has failed with STEP_STOPPED", async () => {
    const { file, marks } = outsideCount();
    const stop = new AbortController();
    const flow = flowOf({ id: "step", toolId: "obeys", signal: stop.signal, retry: { maxAttempts: 3 } });
    const app = appWith(flow);
    const handle = await app.runtime.start(flow, { file }, { executionId: "x" });
    await until(() => marks().length === 1, "it has begun");
    stop.abort("barge in"); // no error at all, and the same reason all the same
    expect(await within(handle.result(), "result")).toMatchObject({ code: "STEP_STOPPED" });
    expect(marks().map(({ what }) => what.split(":")[0])).toEqual(["begin", "aborted"]);
    expect(await typesOf(app, "x")).not.toContain("STEP_RETRIED");
  });

  it("one that fails on a channel, or completes, when it is told to stop has done so", async () => {
    for (const [toolId, input, output] of [
      ["yields", { content: "half a" }, { channel: "interrupted", payload: { content: "half a" } }],
      ["deaf", {}, "done"],
      ["deaf", { fails: true }, { name: "RangeError" }],
    ] as const) {
      const { file, marks } = outsideCount();
      const stop = new AbortController();
      const flow = flowOf({ id: "step", toolId, signal: stop.signal });
      const app = appWith(flow);
      const handle = await app.runtime.start(flow, { file, ...input }, { executionId: "x" });
      await until(() => marks().length === 1, "it has begun");
      stop.abort(new Error("barge in"));
      const result = await within(handle.result(), "result");
      if (typeof output === "string") expect(result).toBe(output);
      else expect(result).toMatchObject(output);
      await app.close();
    }
  });

  it("one that goes on for longer than five seconds is not waited for, and is late", async () => {
    const { file, marks } = outsideCount();
    const stop = new AbortController();
    const flow = flowOf({ id: "step", toolId: "work", signal: stop.signal });
    const app = appWith(flow);
    const handle = await app.runtime.start(flow, { file, ms: 6_000 }, { executionId: "x" });
    await until(() => marks().length === 1, "it has begun");
    stop.abort();
    expect(await within(handle.result(), "result")).toMatchObject({ code: "STEP_STOPPED" });
    expect(marks()).toHaveLength(1);
    await until(async () => (await typesOf(app, "x")).includes("OUTCOME_LATE"), "it is late");
  }, 20_000);

  it("a step that waits for room is stopped where it waits", async () => {
    const { file, marks } = outsideCount();
    const stop = new AbortController();
    const busy = { id: "busy", toolId: "obeys" };
    const step = { id: "step", toolId: "echo", signal: stop.signal };
    const flow = defineFlow(
      flow$({ id: "f", version: "1", inputSchema: z.unknown(), outputSchema: z.unknown() }),
      async (ctx) => {
        void ctx.execute(busy, { file }).catch(() => {});
        return ctx.execute(step, { file }).catch(({ code }: HeddleError) => code);
      },
    );
    const app = appWith(flow, { maxThreads: 1, callsPerThread: 1, maxQueue: 0 });
    const handle = await app.runtime.start(flow, null, { executionId: "x" });
    await until(() => marks().length === 1, "there is no room");
    stop.abort();
    expect(await within(handle.result(), "result")).toBe("STEP_STOPPED");
    expect(marks().map(({ stepId }) => stepId)).not.toContain("step");
  });
});
