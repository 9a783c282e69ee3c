import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { HeddleError, RegisteredFlow, ResumePayloadValidationError } from "../../src/kernel/index.js";
import { flow, type Process, type ProcessOptions, World } from "../support/world.js";

async function parked(world: World, f: RegisteredFlow, options: ProcessOptions = {}): Promise<Process> {
  const process = await world.open([f], options);
  await world.until((await process.start(f, null)).waitForSuspend());
  return process;
}

const codes = (results: readonly PromiseSettledResult<unknown>[]): string[] =>
  results.map((result) => (result.status === "fulfilled" ? "ok" : (result.reason as HeddleError).code));

const echo = flow("echo", async (ctx) => {
  const answer = await ctx.suspend<unknown>({ on: "gate" });
  return { answer };
});

describe("C-SUS-01: a signal that finds no gate is told why, and leaves no trace", () => {
  test("no such execution", async () => {
    const world = World.memory();
    const { runtime } = await world.open([echo]);
    await expect(world.until(runtime.resume("nobody", { eventType: "gate" }))).rejects.toMatchObject({
      code: "EXECUTION_UNKNOWN",
      details: { executionId: "nobody" },
    });
    await expect(world.until(runtime.cancel("nobody"))).rejects.toMatchObject({ code: "EXECUTION_UNKNOWN" });
    await expect(world.until(runtime.loadState("nobody"))).rejects.toMatchObject({
      code: "EXECUTION_UNKNOWN",
    });
    await expect(world.until(runtime.handle("nobody").waitForCompletion())).rejects.toMatchObject({
      code: "EXECUTION_UNKNOWN",
    });
  });

  test("too early: the flow has not got there", async () => {
    const world = World.memory();
    const slow = world.step("slow", () => world.delay(1_000));
    const f = flow("f", async (ctx) => {
      await ctx.run(slow, 1);
      return ctx.suspend({ on: "gate" });
    });
    const process = await world.open([f]);
    await process.start(f, null);
    const early = world.until(process.runtime.resume("x", { eventType: "gate" }));
    await expect(early).rejects.toMatchObject({
      code: "GATE_NOT_OPEN",
      details: { eventType: "gate", open: [] },
    });
    expect(await world.types()).toEqual(["EXECUTION_STARTED", "STEP_STARTED"]);
    expect((await process.finish("x", { gate: "in time" })).variables["_output"]).toBe("in time");
  });

  test("a start, a resume and a cancel of one moment are taken in that order", async () => {
    const world = World.memory();
    const { runtime } = await world.open([echo]);
    const told = await world.until(
      Promise.allSettled([
        runtime.start(echo, null, { executionId: "x" }),
        runtime.resume("x", { eventType: "gate", payload: 1 }),
        runtime.start(echo, null, { executionId: "y" }),
        runtime.cancel("y"),
      ]),
    );
    expect(codes(told)).toEqual(["ok", "ok", "ok", "ok"]);
    expect((await runtime.loadState("x")).variables["_output"]).toEqual({ answer: 1 });
    expect((await runtime.loadState("y")).status).toBe("cancelled");
  });

  test("another name: the open ones are named", async () => {
    const world = World.memory();
    const { runtime } = await parked(world, echo);
    await expect(world.until(runtime.resume("x", { eventType: "door" }))).rejects.toMatchObject({
      code: "GATE_NOT_OPEN",
      message: "Execution x does not wait for door. It waits for gate (gate gate#0).",
      details: { open: ["gate#0"] },
    });
    expect((await world.types()).length).toBe(2);
  });

  test.each(["completed", "failed", "cancelled"])("it has %s", async (how) => {
    const world = World.memory();
    const f = flow("f", async (ctx) => {
      await ctx.suspend({ on: "gate" });
      if (how === "failed") throw new Error("no");
    });
    const process = await parked(world, f);
    if (how === "cancelled") await world.until(process.runtime.cancel("x"));
    else await process.finish("x", { gate: 1 });
    const before = await world.events();
    for (let restarts = 0; restarts < 2; restarts++) {
      const { runtime } = restarts === 0 ? process : await world.restart([f]);
      await expect(world.until(runtime.resume("x", { eventType: "other" }))).rejects.toMatchObject({
        code: "EXECUTION_ENDED",
        details: { status: how },
      });
      const closed = how === "cancelled" ? "EXECUTION_ENDED" : "GATE_ALREADY_RESOLVED";
      await expect(world.until(runtime.resume("x", { eventType: "gate" }))).rejects.toMatchObject({
        code: closed,
      });
    }
    expect(await world.events()).toEqual(before);
  });

  test("the very moment the gate is durable is soon enough, for 500 executions and payloads of 1 MB", async () => {
    const world = World.memory();
    const f = flow("f", async (ctx) => {
      ctx.emit("about to wait", ctx.executionId);
      return (await ctx.suspend<string>({ on: "gate" })).length;
    });
    const payload = "x".repeat(1_000_000);
    let answered = 0;
    const process = await world.open([f], {
      onDurableEvent: ({ type, executionId }) => {
        if (type !== "EXECUTION_SUSPENDED") return;
        void process.runtime
          .resume(executionId, { eventType: "gate", payload: payload })
          .then(() => answered++);
      },
    });
    for (let batch = 0; batch < 25; batch++) {
      const ids = Array.from({ length: 20 }, (_, i) => `x${batch}-${i}`);
      await world.until(
        Promise.all(ids.map((executionId) => process.runtime.start(f, null, { executionId }))),
      );
    }
    await world.when(() => answered === 500);
    expect((await process.runtime.list({ status: "completed", limit: 1_000 })).length).toBe(500);
    expect(await process.runtime.list({ status: ["suspended", "running"] })).toEqual([]);
  });
});

describe("C-SUS-03: the payload", () => {
  const strict = flow("strict", async (ctx) => ctx.suspend<{ amount: number }>({ on: "gate" }), {
    resumeSchemas: { gate: z.object({ amount: z.number().min(1) }) },
  });

  test.each([10_000, 0])(
    "one that fails its schema is refused before anything is recorded, and the gate stays open; resident: %i",
    async (maxResident) => {
      const world = World.memory();
      const process = await parked(world, strict, { maxResident });
      const before = await world.events();
      for (const payload of [undefined, {}, { amount: "7" }, { amount: 0 }]) {
        const refused = world.until(
          process.runtime.resume("x", { eventType: "gate", payload, requestId: "r" }),
        );
        const error = (await refused.catch((reason: unknown) => reason)) as ResumePayloadValidationError;
        expect(error).toMatchObject({ name: "ResumePayloadValidationError", code: "RESUME_PAYLOAD_INVALID" });
        expect(error.issues.length).toBe(1);
        expect(error.message).toMatch(
          /The payload for gate of execution x does not satisfy its schema: .*\. Nothing was recorded; the gate is still open\./,
        );
      }
      expect(await world.events()).toEqual(before);
      expect((await world.until(process.runtime.handle("x").waitForSuspend())).status).toBe("suspended");
      const state = await process.finish("x", { gate: { amount: 7, extra: "dropped by the schema" } });
      expect(state.variables["_output"]).toEqual({ amount: 7 });
    },
  );

  test("one that cannot be recorded is refused with its path, and the gate stays open", async () => {
    const world = World.memory();
    const process = await parked(world, echo);
    const refused = world.until(
      process.runtime.resume("x", { eventType: "gate", payload: { rows: [1, { cb() {} }] } }),
    );
    await expect(refused).rejects.toMatchObject({
      code: "VALUE_NOT_RECORDABLE",
      details: { path: "value.rows[1].cb" },
    });
    expect((await process.finish("x", { gate: 1 })).status).toBe("completed");
  });

  test("a schema that is asynchronous is refused to the sender, not to the flow", async () => {
    const world = World.memory();
    const f = flow("f", async (ctx) => ctx.suspend({ on: "gate" }), {
      resumeSchemas: { gate: z.string().refine(async () => true) },
    });
    const process = await parked(world, f);
    await expect(
      world.until(process.runtime.resume("x", { eventType: "gate", payload: "a" })),
    ).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    expect((await process.runtime.loadState("x")).status).toBe("suspended");
  });

  test("a gate named like a property of every object has no schema by accident", async () => {
    const world = World.memory();
    const f = flow("f", async (ctx) => ctx.suspend({ on: "constructor" }), { resumeSchemas: {} });
    const process = await parked(world, f);
    expect((await process.finish("x", { constructor: 7 })).variables["_output"]).toBe(7);
  });

  test.each([[null], [undefined], [0], [""], [false], [Number.NaN], [-0], [[]]])(
    "%j is a payload, and no timeout",
    async (payload) => {
      const world = World.memory();
      const f = flow("f", async (ctx) => {
        const answer = await ctx.suspend<unknown>({ on: "gate", timeout: 1_000 }).catch(() => "timed out");
        return { answer };
      });
      let process = await parked(world, f);
      process = await world.restart([f]);
      await world.until(process.runtime.resume("x", { eventType: "gate", payload }));
      const state = await process.finish("x");
      expect(state.variables["_output"]).toStrictEqual({ answer: payload });
      expect(state.gates["gate#0"]).toMatchObject({ status: "resolved" });
      expect(await process.store.timers()).toEqual([]);
    },
  );
});

describe("C-SUS-03: concurrent resumes of one gate", () => {
  const lasting = flow("lasting", async (ctx) => {
    const answer = await ctx.suspend({ on: "gate" });
    await ctx.suspend({ on: "later" });
    return answer;
  });

  describe.each([
    ["the last thing the flow waits for", echo],
    ["followed by another gate", lasting],
  ] as const)("a gate that is %s", (_, f) => {
    test.each([10_000, 0])(
      "one of fifty wins, the losers hear who; repeats of the winner succeed. Resident: %i",
      async (maxResident) => {
        const world = World.memory();
        let process = await parked(world, f, { maxResident });
        const all = Array.from({ length: 50 }, (__, i) => i).flatMap((i) => Array<number>(6).fill(i)); // each is repeated five times
        const send = (i: number) =>
          process.runtime.resume("x", { eventType: "gate", payload: i, requestId: `r${i}` });
        const results = await world.until(Promise.allSettled(all.map(send)));
        const winners = new Set(all.filter((__, index) => results[index]?.status === "fulfilled"));
        expect(winners).toEqual(new Set([0]));
        expect(codes(results)).toEqual(all.map((i) => (i === 0 ? "ok" : "GATE_ALREADY_RESOLVED")));
        for (const result of results) {
          if (result.status === "rejected")
            expect(result.reason).toMatchObject({
              details: { resolvedBy: "r0", gateId: "gate#0", timedOut: false },
            });
        }
        const recorded = (await world.types()).filter(
          (type) => type === "gate" || type === "EXECUTION_RESUMED",
        );
        expect(recorded).toEqual(["gate", "EXECUTION_RESUMED"]);

        // After a restart, and after the execution has ended.
        for (let round = 0; round < 3; round++) {
          if (round === 1) process = await world.restart([f], { maxResident });
          if (round === 2) await process.finish("x", { later: 1 });
          expect(codes(await world.until(Promise.allSettled([send(0), send(0), send(7)])))).toEqual([
            "ok",
            "ok",
            "GATE_ALREADY_RESOLVED",
          ]);
        }
        expect((await world.types()).filter((type) => type === "gate").length).toBe(1);
      },
    );
  });

  test("losers without a request id are told of another resume", async () => {
    const world = World.memory();
    const process = await parked(world, lasting);
    const results = await world.until(
      Promise.allSettled(
        [1, 2].map((payload) => process.runtime.resume("x", { eventType: "gate", payload })),
      ),
    );
    expect(codes(results)).toEqual(["ok", "GATE_ALREADY_RESOLVED"]);
    expect((results[1] as PromiseRejectedResult).reason).toMatchObject({
      message: "The gate gate#0 of execution x was already resolved by another resume.",
    });
  });

  test.each([10_000, 0])(
    "a repeat does not resolve the next gate of its name, resident: %i",
    async (maxResident) => {
      const world = World.memory();
      const f = flow("f", async (ctx) => [
        await ctx.suspend({ on: "gate" }),
        await ctx.suspend({ on: "gate" }),
        await ctx.suspend({ on: "other" }),
      ]);
      let process = await parked(world, f, { maxResident });
      const send = (eventType: string, payload: number, gateId?: string) =>
        world.until(
          process.runtime.resume("x", { eventType, payload, requestId: "r", ...(gateId && { gateId }) }),
        );
      await send("gate", 1);
      for (let i = 0; i < 5; i++) await send("gate", 1);
      process = await world.restart([f], { maxResident });
      for (let i = 0; i < 5; i++) await send("gate", 1);
      await send("gate", 1, "gate#0");
      expect((await process.runtime.loadState("x")).gates).toMatchObject({
        "gate#0": { status: "resolved" },
        "gate#1": { status: "open" },
      });
      // The id is the sender's, for one gate: for the next one it has to say that it means another.
      await send("gate", 2, "gate#1");
      await send("other", 3);
      expect((await process.finish("x")).variables["_output"]).toEqual([1, 2, 3]);
    },
  );
});

describe("C-SUS-03: timeouts", () => {
  const timed = flow("timed", async (ctx) => {
    try {
      return await ctx.suspend({ on: "gate", timeout: 60_000 });
    } catch (error) {
      const { code, details, message, stack } = error as HeddleError;
      await ctx.suspend({ on: "later" });
      return { code, details, message, stack };
    }
  });

  test.each([10_000, 0])(
    "one is recorded, a replay does not wait again, and a late answer is told. Resident: %i",
    async (maxResident) => {
      const world = World.memory();
      let process = await parked(world, timed, { maxResident });
      await world.pass(59_999);
      expect((await process.runtime.loadState("x")).gates["gate#0"]?.status).toBe("open");
      await world.pass(1);
      expect((await world.events()).slice(2)).toMatchObject([
        { type: "GATE_TIMED_OUT", payload: { gateId: "gate#0", on: "gate" } },
        { type: "EXECUTION_RESUMED", payload: { gateId: "gate#0", reason: "timeout" } },
        { type: "EXECUTION_SUSPENDED", payload: { gateId: "later#0" } },
      ]);
      process = await world.restart([timed], { maxResident });
      await expect(
        world.until(process.runtime.resume("x", { eventType: "gate", payload: 1, requestId: "late" })),
      ).rejects.toMatchObject({
        code: "GATE_ALREADY_RESOLVED",
        message: "The gate gate#0 of execution x was already resolved by its timeout.",
        details: { timedOut: true },
      });
      expect((await process.finish("x", { later: 1 })).variables["_output"]).toEqual({
        code: "GATE_TIMED_OUT",
        details: { on: "gate", gateId: "gate#0" },
        message: "Nobody resolved the gate gate within its timeout.",
        stack: "HeddleError: Nobody resolved the gate gate within its timeout.",
      });
    },
  );

  test("an answer in time ends the timeout", async () => {
    const world = World.memory();
    const process = await parked(world, timed);
    await world.pass(59_000);
    await world.until(process.runtime.resume("x", { eventType: "gate", payload: "in time" }));
    expect(await process.store.timers()).toEqual([]);
    await world.pass(100_000);
    expect((await process.runtime.loadState("x")).variables["_output"]).toBe("in time");
  });

  test("an answer and the timeout at one instant: whichever is recorded first stands, the other is told or dropped", async () => {
    const world = World.memory();
    const process = await parked(world, timed);
    world.clock.jump(60_000);
    const answered = process.runtime.resume("x", { eventType: "gate", payload: "at the last moment" });
    const [result] = await world.until(Promise.allSettled([answered]));
    const gates = (await process.runtime.loadState("x")).gates;
    expect([result?.status, gates["gate#0"]?.status]).toEqual(
      result?.status === "fulfilled" ? ["fulfilled", "resolved"] : ["rejected", "timedOut"],
    );
    expect(Object.values(gates).filter(({ closedAt }) => closedAt !== undefined).length).toBe(1);
  });
});

describe("C-SUS-03, C-SUS-02: several gates of one name", () => {
  const three = flow("three", async (ctx) =>
    ctx.parallel([
      () => ctx.suspend({ on: "approve", correlationKey: "a" }),
      () => ctx.suspend({ on: "approve", correlationKey: "b" }),
      () => ctx.suspend({ on: "approve" }),
    ]),
  );

  test.each([10_000, 0])(
    "an unaddressed resume is refused and names them; gateId or correlationKey tell which. Resident: %i",
    async (maxResident) => {
      const world = World.memory();
      let process = await parked(world, three, { maxResident });
      const resume = (request: object) =>
        world.until(process.runtime.resume("x", { eventType: "approve", ...request }));
      await expect(resume({ payload: 1 })).rejects.toMatchObject({
        code: "GATE_AMBIGUOUS",
        details: { open: ["approve#0", "approve#1", "approve#2"] },
      });
      await expect(resume({ correlationKey: "c" })).rejects.toMatchObject({ code: "GATE_NOT_OPEN" });
      await expect(resume({ gateId: "approve#7" })).rejects.toMatchObject({ code: "GATE_NOT_OPEN" });
      await resume({ correlationKey: "b", payload: "for b", requestId: "rb" });
      process = await world.restart([three], { maxResident });
      await expect(resume({ correlationKey: "b", payload: "again" })).rejects.toMatchObject({
        code: "GATE_ALREADY_RESOLVED",
        details: { gateId: "approve#1", resolvedBy: "rb" },
      });
      await expect(resume({ correlationKey: "nobody's" })).rejects.toMatchObject({
        code: "GATE_NOT_OPEN",
        details: { open: ["approve#0", "approve#2"] },
      });
      await resume({ gateId: "approve#2", payload: "for the third" });
      expect((await process.runtime.loadState("x")).status).toBe("suspended");
      await resume({ payload: "the only one left" });
      expect((await process.finish("x")).variables["_output"]).toEqual([
        "the only one left",
        "for b",
        "for the third",
      ]);
    },
  );

  test("a sleep is no gate for anybody to resume", async () => {
    const world = World.memory();
    const f = flow("f", async (ctx) => Promise.all([ctx.sleep(1_000), ctx.suspend({ on: "sleep" })]));
    const process = await parked(world, f);
    await world.until(process.runtime.resume("x", { eventType: "sleep", payload: 7 }));
    const again = (request: object) =>
      world.until(process.runtime.resume("x", { eventType: "sleep", ...request }));
    await expect(again({})).rejects.toMatchObject({ code: "GATE_ALREADY_RESOLVED" });
    await expect(again({ gateId: "sleep#0" })).rejects.toMatchObject({ code: "GATE_NOT_OPEN" });
    expect((await process.finish("x")).variables["_output"]).toEqual([undefined, 7]);
  });
});
