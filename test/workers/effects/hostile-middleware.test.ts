// A middleware that never comes back around a call to the pool: its step's time limit ends it, on the way in and on the way out,
// and gives the room back that was kept for its call. What the call itself takes is timed where it runs (C-EFF-03).

import type { EffectMiddleware } from "heddle";
import { describe, expect, it } from "vitest";
import { errorOf, within } from "../partitions/world.js";
import { flowOf, openApp, outsideCount } from "./world.js";

const never = (): Promise<never> => new Promise(() => {});

describe("a middleware around a pooled effect", () => {
  it.each<[string, EffectMiddleware, number]>([
    ["on the way in", never, 0],
    [
      "on the way out",
      async (_ctx, _input, next) => {
        await next();
        return never();
      },
      1,
    ],
  ])(
    "that never comes back %s is ended by the time limit, and its room is free again",
    async (_way, hang, runs) => {
      const { file, marks } = outsideCount();
      const hanging: EffectMiddleware = (ctx, input, next) =>
        ctx.executionId === "hostile" ? hang(ctx, input, next) : next();
      // Room for a single call, so that what is not given back is missed.
      const app = openApp({
        pool: { maxThreads: 1, callsPerThread: 1, maxQueue: 0 },
        execution: { effectMiddleware: [hanging] },
      });
      const work = { toolId: "work", input: { file, ms: 1, value: "done" }, options: { timeoutMs: 300 } };
      const hostile = await app.runtime.start(flowOf("single"), work, { executionId: "hostile" });
      const error = await within(errorOf(hostile.result()), "the time limit");
      expect(error.cause).toMatchObject({ code: "EFFECT_TIMED_OUT" });
      expect(marks().filter(({ what }) => what === "end")).toHaveLength(runs);
      const healthy = await app.runtime.start(flowOf("single"), work, { executionId: "healthy" });
      expect(await within(healthy.result(), "the other one")).toBe("done");
    },
  );
});
