// Surfaces: what a flow patches is what a reader sees, right after a wait returns, after a restart, and as a copy of the
// reader's own.

import { describe, expect, it } from "vitest";
import { MemoryEventStore, MemorySnapshotStore } from "../../src/kernel/index.js";
import { surface } from "../../src/surface/index.js";
import { flow, openApp, step, temporaryDirectory, within } from "../lifecycle/world.js";

const work = (id: string) => step(id, (input) => input);

describe.each(["memory", "lmdb"] as const)("projectionRuntime.getState (%s)", (kind) => {
  const dirFor = (): { dir?: string } => (kind === "lmdb" ? { dir: temporaryDirectory() } : {});

  it("shows set, merge and append in the order of the log", async () => {
    const patched = flow("patched", async (ctx) => {
      const ui = surface(ctx);
      ui.set("title", "first");
      ui.set("title", "second");
      ui.merge("order", { id: 1, lines: 2 });
      ui.merge("order", { lines: 3 });
      ui.append("log", "a");
      await ctx.run(work("s"), 0);
      ui.append("log", { b: 2 });
      ui.set("list", ["kept"]);
      ui.append("list", "added");
      ui.set("list#2", "not a list");
      ui.append("list#2", "a list now");
      ui.set("object", "not an object");
      ui.merge("object", { now: "it is" });
    });
    const app = openApp({ ...dirFor(), flows: [patched], surfaces: ["main"] });
    const handle = await app.runtime.start(patched, 0, { executionId: "x" });
    await within(handle.result(), "result");
    expect(app.projectionRuntime.getState("main", "x")).toEqual({
      title: "second",
      order: { id: 1, lines: 3 },
      log: ["a", { b: 2 }],
      list: ["kept", "added"],
      "list#2": ["a list now"],
      object: { now: "it is" },
    });
  });

  it("is right immediately after each wait returns", async () => {
    const staged = flow("staged", async (ctx, n) => {
      ctx.ui.set("stage", `begun ${String(n)}`);
      const answer = await ctx.suspend<string>({ on: "go" });
      ctx.ui.set("stage", `answered ${answer}`);
      await ctx.run(work("s"), 0);
      ctx.ui.set("stage", "ended");
    });
    const app = openApp({ ...dirFor(), flows: [staged], surfaces: ["main"] });
    const stage = (id: string): unknown =>
      app.projectionRuntime.getState<{ stage: string }>("main", id).stage;
    const live = async (n: number): Promise<void> => {
      const id = `x${n}`;
      expect(app.projectionRuntime.getState("main", id)).toEqual({});
      const handle = await app.runtime.start(staged, n, { executionId: id });
      expect(stage(id)).toBe(`begun ${n}`); // the flow runs in the pass that starts it
      await within(handle.waitForSuspend(), id);
      expect(stage(id)).toBe(`begun ${n}`);
      await app.runtime.resume(id, { eventType: "go", payload: `by ${n}` });
      expect(stage(id)).toBe(`answered by ${n}`);
      await within(handle.waitForCompletion(), id);
      expect(stage(id)).toBe("ended");
    };
    await Promise.all(Array.from({ length: 100 }, (_, n) => live(n)));
  });

  it("keeps named surfaces apart, and gives a patch without a name to all of them", async () => {
    const named = flow("named", async (ctx) => {
      surface(ctx).set("everywhere", 1);
      surface(ctx, "left").set("side", "left");
      ctx.ui.on("right").append("side", "right");
    });
    const app = openApp({ ...dirFor(), flows: [named], surfaces: ["left", { id: "right" }, "neither"] });
    await within((await app.runtime.start(named, 0, { executionId: "x" })).result(), "result");
    const { projectionRuntime } = app;
    expect(projectionRuntime.getState("left", "x")).toEqual({ everywhere: 1, side: "left" });
    expect(projectionRuntime.getState("right", "x")).toEqual({ everywhere: 1, side: ["right"] });
    expect(projectionRuntime.getState("neither", "x")).toEqual({ everywhere: 1 });
    expect(projectionRuntime.getState("left", "nobody")).toEqual({});
    expect(() => projectionRuntime.getState("lift", "x")).toThrow(
      expect.objectContaining({
        code: "CONFIG_INVALID",
        message: expect.stringMatching(/registered: left, right, neither/) as string,
      }),
    );
  });

  it("gives every reader a copy, and patches keep what they were given", async () => {
    const given = { deep: { list: [1] }, when: new Date(5), map: new Map([["k", { v: 1 }]]) };
    const shown = flow("shown", async (ctx) => {
      ctx.ui.set("given", given);
      given.deep.list.push(2);
      await ctx.suspend({ on: "go" });
      ctx.ui.merge("given", { more: true });
    });
    const app = openApp({ ...dirFor(), flows: [shown], surfaces: ["main"] });
    const handle = await app.runtime.start(shown, 0, { executionId: "x" });
    await within(handle.waitForSuspend(), "gate");
    interface Shown {
      given: { deep: { list: number[] }; when: Date; map: Map<string, { v: number }> };
    }
    const read = (): Shown => app.projectionRuntime.getState<Shown>("main", "x");
    const first = read();
    expect(first).toEqual({
      given: { deep: { list: [1] }, when: new Date(5), map: new Map([["k", { v: 1 }]]) },
    });
    first.given.deep.list.push(99);
    first.given.when.setTime(0);
    first.given.map.get("k")!.v = 99;
    expect(read()).toEqual({
      given: { deep: { list: [1] }, when: new Date(5), map: new Map([["k", { v: 1 }]]) },
    });
    await app.runtime.resume("x", { eventType: "go" });
    await within(handle.result(), "result");
    expect(read()).toMatchObject({ given: { deep: { list: [1] }, more: true } });
  });

  it("counts as promised: N steps are 2N + 2 events, each patch is one, suspended at sequence 10", async () => {
    const steps = flow("steps", async (ctx) => {
      for (let i = 0; i < 5; i++) await ctx.run(work(`s#${i}`), i);
    });
    const guide = flow("guide", async (ctx) => {
      ctx.ui.set("a", 1);
      await ctx.run(work("one"), 0);
      ctx.ui.merge("a", { b: 1 });
      ctx.ui.set("c", 1);
      await ctx.run(work("two"), 0);
      ctx.ui.merge("a", { d: 1 });
      ctx.ui.set("e", 1);
      await ctx.suspend({ on: "go" });
    });
    const app = openApp({ ...dirFor(), flows: [steps, guide], surfaces: ["main"] });
    const ended = await within(
      (await app.runtime.start(steps, 0, { executionId: "s" })).waitForCompletion(),
      "end",
    );
    expect(ended.sequence).toBe(2 * 5 + 1);
    expect((await app.stores.eventStore.read("s")).map(({ sequence }) => sequence)).toEqual(
      Array.from({ length: 12 }, (_, i) => i),
    );
    const state = await within((await app.runtime.start(guide, 0)).waitForSuspend(), "gate");
    expect(state.sequence).toBe(10);
    expect(state.status).toBe("suspended");
  });
});

it("shows the same after a restart, and goes on from there", async () => {
  const dir = temporaryDirectory();
  const counting = flow("counting", async (ctx) => {
    for (let i = 0; ; i++) {
      ctx.ui.append("counts", i);
      ctx.ui.set("last", i);
      if ((await ctx.suspend<string>({ on: "next" })) === "stop") return;
    }
  });
  const options = { dir, flows: [counting], surfaces: ["main"] };
  let app = openApp(options);
  await within((await app.runtime.start(counting, 0, { executionId: "x" })).waitForSuspend(), "gate");
  for (let round = 1; round < 5; round++) {
    await app.close();
    app = openApp(options);
    expect(app.projectionRuntime.getState("main", "x")).toEqual({
      counts: Array.from({ length: round }, (_, i) => i),
      last: round - 1,
    });
    await app.runtime.resume("x", { eventType: "next" });
    await within(app.runtime.handle("x").waitForSuspend(), "gate");
    expect(app.projectionRuntime.getState("main", "x")).toMatchObject({ last: round });
  }
});

it("reads more surfaces than it keeps folded", async () => {
  const shown = flow("shown", async (ctx, n) => {
    ctx.ui.append("n", n);
    await ctx.suspend({ on: "go" });
    ctx.ui.append("n", "again");
  });
  const app = openApp({ flows: [shown], surfaces: ["main"] });
  const ids = Array.from({ length: 1_200 }, (_, n) => `x${n}`);
  await Promise.all(ids.map((id, n) => app.runtime.start(shown, n, { executionId: id })));
  const read = (): unknown[] => ids.map((id) => app.projectionRuntime.getState("main", id)["n"]);
  expect(read()).toEqual(ids.map((_, n) => [n]));
  await Promise.all(ids.map((id) => app.runtime.resume(id, { eventType: "go" })));
  expect(read()).toEqual(ids.map((_, n) => [n, "again"]));
});

it("says so when a store cannot be read synchronously", async () => {
  const store = new MemoryEventStore({});
  const app = openApp({
    storage: {
      kind: "custom",
      eventStore: {
        partitions: store.partitions,
        open: (partition) => store.open(partition),
        read: (id, range) => store.read(id, range),
        find: (id) => store.find(id),
        list: (filter) => store.list(filter),
        subscribe: (id, listener, options) => store.subscribe(id, listener, options),
        close: () => store.close(),
      },
      snapshotStore: new MemorySnapshotStore(),
    },
    surfaces: ["main"],
  });
  expect(() => app.projectionRuntime.getState("main", "x")).toThrow(
    expect.objectContaining({ code: "CONFIG_INVALID" }),
  );
});
