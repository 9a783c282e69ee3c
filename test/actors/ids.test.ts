// C-LOG-01: the limit of ids at every door of the runtime. What is refused leaves the log as it was; what is legal
// survives a restart, also where the runtime puts it together with other names.

import { describe, expect, test } from "vitest";
import { type ExecutionContext, type HeddleError, ID_BYTES_MAX } from "../../src/kernel/index.js";
import { flow, type Process, World } from "../support/world.js";

const THREAD = "\u{1F9F5}"; // four bytes
const CHARACTERS = [1, 500, 1023, 1024, 1025, 1900, 2000, 4000];
const NAMES = CHARACTERS.flatMap((length) => [
  { what: `${length} characters of ASCII`, name: "a".repeat(length), bytes: length },
  { what: `${length} emoji`, name: THREAD.repeat(length), bytes: 4 * length },
]);
const LEGAL = NAMES.filter(({ bytes }) => bytes <= ID_BYTES_MAX);
const TOO_LONG = NAMES.filter(({ bytes }) => bytes > ID_BYTES_MAX);
const STORES = [
  ["memory", World.memory],
  ["LMDB", World.lmdb],
] as const;

/** The doors inside a flow: what each is called, and how one goes through it. */
const DOORS: readonly [field: string, (ctx: ExecutionContext, name: string, world: World) => unknown][] = [
  ["step id", (ctx, name, world) => ctx.execute({ id: name, handler: world.step("s", () => 1).handler! }, 1)],
  ["suspend's `on`", (ctx, name) => ctx.suspend({ on: name, timeout: 5 })],
  ["correlationKey", (ctx, name) => ctx.suspend({ on: "gate", correlationKey: name, timeout: 5 })],
  ["decision id", (ctx, name) => ctx.decide(name, () => 1)],
  ["event type", (ctx, name) => ctx.emit(name, 1)],
  ["event type", (ctx, name) => ctx.stream(name, "delta")],
  ["surface key", (ctx, name) => ctx.ui.set(name, 1)],
  ["surface key", (ctx, name) => ctx.ui.merge(name, {})],
  ["surface key", (ctx, name) => ctx.ui.append(name, 1)],
  ["surface id", (ctx, name) => ctx.ui.on(name).set("key", 1)],
];

describe("C-LOG-01: an execution id", () => {
  test.each(TOO_LONG)("of $what is refused, and so is every question about it", async ({ name, bytes }) => {
    const world = World.memory();
    const f = flow("f", async () => 1);
    const { runtime } = await world.open([f]);
    const refusal = {
      code: "ID_INVALID",
      details: { field: "executionId", bytes, limitBytes: ID_BYTES_MAX },
    };
    await expect(runtime.start(f, null, { executionId: name })).rejects.toMatchObject(refusal);
    await expect(runtime.resume(name, { eventType: "e" })).rejects.toMatchObject(refusal);
    await expect(runtime.cancel(name)).rejects.toMatchObject(refusal);
    await expect(runtime.loadState(name)).rejects.toMatchObject(refusal);
    expect(() => runtime.handle(name)).toThrow(expect.objectContaining(refusal) as HeddleError);
    expect(await runtime.list()).toEqual([]);
  });

  test.each(STORES.flatMap(([store, make]) => LEGAL.map(({ what, name }) => ({ store, make, what, name }))))(
    "of $what works and survives a restart on $store",
    async ({ make, name }) => {
      const world = make();
      const f = flow("f", async (ctx) => [
        await ctx.run(
          world.step("s", () => 1),
          1,
        ),
        await ctx.suspend({ on: "gate", timeout: 1_000_000 }),
      ]);
      let process = await world.open([f]);
      await world.until((await process.start(f, null, name)).waitForSuspend());
      process = await world.restart([f]);
      expect((await process.finish(name, { gate: 2 })).variables["_output"]).toEqual([1, 2]);
      expect((await world.events(name)).every(({ executionId }) => executionId === name)).toBe(true);
    },
  );
});

describe("C-LOG-01: a name in the flow", () => {
  test.each(
    DOORS.flatMap(([field, use]) =>
      TOO_LONG.map(({ what, name, bytes }) => ({ field, use, what, name, bytes })),
    ),
  )("$field of $what is refused, catchable, and leaves no trace", async ({ field, use, name, bytes }) => {
    const world = World.memory();
    const f = flow("f", async (ctx) => {
      try {
        await use(ctx, name, world);
        return "accepted";
      } catch (error) {
        const { code, details } = error as HeddleError;
        return { code, ...details };
      }
    });
    const process = await world.open([f]);
    await process.start(f, null);
    expect((await process.finish("x")).variables["_output"]).toEqual({
      code: "ID_INVALID",
      field,
      bytes,
      limitBytes: ID_BYTES_MAX,
    });
    expect(await world.types()).toEqual(["EXECUTION_STARTED", "EXECUTION_COMPLETED"]);
    expect(await process.store.timers()).toEqual([]);
  });

  test.each(STORES.flatMap(([store, make]) => LEGAL.map(({ what, name }) => ({ store, make, what, name }))))(
    "of $what works at every door at once and survives a restart on $store",
    async ({ make, name }) => {
      const world = make();
      const step = world.step(
        name,
        (_input, { attempt }) => {
          if (attempt === 1) throw new Error("once more");
          return "ran";
        },
        { retry: { maxAttempts: 2, baseDelayMs: 1_000 } },
      );
      const f = flow("f", async (ctx) => {
        ctx.emit(name, 1);
        ctx.stream(name, "delta", true);
        ctx.ui.on(name).set(name, 1);
        const choice = await ctx.decide(name, () => "chosen");
        const [ran] = await ctx.parallel([
          [step, 1],
          () => ctx.suspend({ on: name, correlationKey: name, timeout: 10 }).catch(() => "timed out"),
        ]);
        return [choice, ran, await ctx.suspend({ on: name, correlationKey: name })];
      });
      let process = await world.open([f]);
      await process.start(f, null);
      process = await world.restart([f]);
      await world.when(() => world.ran(name) === 2);
      await world.settle();
      process = await world.restart([f]);
      await world.until(
        process.runtime.resume("x", {
          eventType: name,
          correlationKey: name,
          payload: "answer",
          requestId: name,
        }),
      );
      expect((await process.finish("x")).variables["_output"]).toEqual(["chosen", "ran", "answer"]);
      expect(world.ran(name)).toBe(2);
    },
  );

  test.each([
    ["empty", ""],
    ["a NUL inside", "a\0b"],
    ["not well-formed", "a\ud800"],
    ["__proto__", "__proto__"],
  ])("%s is refused at every door", async (_, name) => {
    const world = World.memory();
    const f = flow("f", async (ctx) => {
      const codes: string[] = [];
      for (const [, use] of DOORS) {
        try {
          await use(ctx, name, world);
          codes.push("accepted");
        } catch (error) {
          codes.push((error as HeddleError).code);
        }
      }
      return codes;
    });
    const process = await world.open([f]);
    await process.start(f, null);
    expect((await process.finish("x")).variables["_output"]).toEqual(DOORS.map(() => "ID_INVALID"));
  });

  test("a name the log uses itself is refused for gates and events", async () => {
    const world = World.memory();
    const f = flow("f", async (ctx) => {
      const codes: unknown[] = [];
      const note = (error: unknown): void =>
        void codes.push(
          (error as HeddleError).code,
          (error as HeddleError).message.includes("is a name the log uses itself"),
        );
      await ctx.suspend({ on: "STEP_COMPLETED" }).catch(note);
      for (const call of [() => ctx.emit("EXECUTION_FAILED", 1), () => ctx.stream("GATE_EVENT", "x")]) {
        try {
          call();
        } catch (error) {
          note(error);
        }
      }
      await ctx
        .run(
          world.step("s", (_input, c) => c.emit("STEP_STARTED", 1)),
          1,
        )
        .catch(note);
      return codes;
    });
    const process = await world.open([f]);
    await process.start(f, null);
    expect((await process.finish("x")).variables["_output"]).toEqual(
      Array(4).fill(["ID_INVALID", true]).flat(),
    );
  });
});

describe("C-LOG-01: a name in a resume", () => {
  async function parked(world: World): Promise<Process> {
    const f = flow("f", async (ctx) => ctx.suspend({ on: "gate" }));
    const process = await world.open([f]);
    await world.until((await process.start(f, null)).waitForSuspend());
    return process;
  }

  test.each(TOO_LONG)("of $what is refused, and the gate stays open", async ({ name }) => {
    const world = World.memory();
    const { runtime } = await parked(world);
    const before = await world.events();
    await expect(runtime.resume("x", { eventType: name })).rejects.toMatchObject({
      code: "ID_INVALID",
      details: { field: "eventType" },
    });
    await expect(runtime.resume("x", { eventType: "gate", requestId: name })).rejects.toMatchObject({
      code: "ID_INVALID",
      details: { field: "requestId" },
    });
    expect(await world.events()).toEqual(before);
  });
});
