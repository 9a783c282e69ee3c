// Goal: at every boundary between a program and its log, what goes in is what comes out, live and replayed (C-EFF-04), and
// what cannot be recorded fails that one call (C-EFF-05).
// Method: values of the codec's table travel through every boundary; whatever a program is given, it spoils afterwards.

import { deepStrictEqual } from "node:assert/strict";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  type ExecutionContext,
  fromWire,
  type HeddleError,
  hasCode,
  TypedFailure,
  toWire,
  VALUE_LIMITS,
} from "../../src/kernel/index.js";
import { anyValue, spoil } from "../kernel/codec/values.js";
import { flow, unhandledRejections, World } from "../support/world.js";

function isRecordable(value: unknown, bytesMax: number): boolean {
  try {
    toWire(value, { ...VALUE_LIMITS, bytesMax });
    return true;
  } catch {
    return false;
  }
}

describe("C-EFF-04: a value through every boundary", () => {
  test("is the same live and on replay, and spoiling it spoils nothing recorded", async () => {
    await fc.assert(
      fc.asyncProperty(anyValue, fc.boolean(), async (value, isResident) => {
        const wire = toWire(value);
        const fresh = (): unknown => fromWire(wire);
        const trouble: unknown[] = [];
        // A typed failure carries 16 KiB at most; a larger payload makes it a plain failure.
        const fitsChannel = isRecordable(value, 16 * 1024);
        let runs = 0;
        /** Compares what the program was given, and leaves nothing of it as it was. */
        const check = (boundary: string, seen: unknown): void => {
          try {
            deepStrictEqual(seen, fresh());
          } catch (error) {
            trouble.push([boundary, error]);
          }
          spoil(seen);
        };
        const passed = <T>(call: (argument: unknown) => T): T => {
          const argument = fresh();
          const result = call(argument);
          spoil(argument);
          return result;
        };

        const world = World.memory();
        const given: unknown[] = [];
        const give = (): unknown => {
          const result = fresh();
          given.push(result);
          return result;
        };
        const echo = world.step("echo", (input, ctx) => {
          check("step input", input);
          passed((argument) => ctx.emit("from step", argument));
          return give();
        });
        const later = world.step("later", async (input) => {
          check("step input", input);
          await world.delay(1);
          return give();
        });
        const fails = world.step("fails", () => {
          throw Object.assign(new Error("untyped"), { data: give() });
        });
        const typed = world.step(
          "typed",
          () => {
            throw new TypedFailure("declared", give());
          },
          { errors: { declared: z.unknown() } },
        );
        const f = flow("f", async (ctx, input) => {
          runs++;
          check("flow input", input);
          check("step result", await passed((argument) => ctx.run(echo, argument)));
          check("asynchronous step result", await passed((argument) => ctx.run(later, argument)));
          check("decision", await ctx.decide("d", give, { rationale: give() }));
          const failed = await ctx
            .decide("failing", () => Promise.reject(Object.assign(new Error("d"), { data: give() })))
            .catch((e: { data: unknown }) => e.data);
          check("decision failure", failed);
          check("error property", await ctx.run(fails, 1).catch((error: { data: unknown }) => error.data));
          const typedError: unknown = await ctx.run(typed, 1).catch((error: unknown) => error);
          if (fitsChannel) check("typed payload", (typedError as TypedFailure).payload);
          else if (!hasCode(typedError, "CHANNEL_REFUSED")) trouble.push(["typed failure", typedError]);
          passed((argument) => ctx.emit("event", argument));
          passed((argument) => ctx.ui.set("key", argument));
          check("gate payload", await ctx.suspend({ on: "gate" }));
          await ctx.suspend({ on: "end" });
          spoil(given);
          return fresh();
        });

        const options = { maxResident: isResident ? 10_000 : 0 };
        let process = await world.open([f], options);
        await passed((argument) => process.start(f, argument));
        await world.until(process.runtime.handle("x").waitForSuspend());
        await world.until(
          passed((argument) => process.runtime.resume("x", { eventType: "gate", payload: argument })),
        );
        await world.settle();
        spoil(given);
        process = await world.restart([f], options);
        const final = await process.finish("x", { end: 1 });
        check("output", final.variables["_output"]);
        for (let read = 0; read < 2; read++) {
          const { input, frames, gates, decisions } = await process.runtime.loadState("x");
          check("state input", input);
          check("frame input", frames["echo"]?.input);
          check("frame output", frames["later"]?.output);
          if (fitsChannel) check("frame payload", frames["typed"]?.payload);
          check("frame error", (frames["fails"]?.error as { data: unknown }).data);
          check("gate in state", gates["gate#0"]?.payload);
          check("decision in state", decisions["d"]);
          const events = await world.events();
          for (const name of ["from step", "event", "gate"])
            check(name, events.find(({ type }) => type === name)?.payload);
          check(
            "patch",
            (events.find(({ type }) => type === "SURFACE_PATCH")?.payload as { value: unknown }).value,
          );
          check(
            "rationale",
            (events.find(({ type }) => type === "DECISION_RECORDED")?.payload as { rationale?: unknown })
              .rationale,
          );
        }
        await process.kill();
        expect(trouble).toEqual([]);
        expect(runs).toBeGreaterThanOrEqual(2);
      }),
      { numRuns: 60, examples: [["x".repeat(20_000), true]] },
    );
  });

  test("an error a flow catches is the same on every replay: class, message, code, cause, properties and stack", async () => {
    const world = World.memory();
    const caught: unknown[][] = [];
    class Quota extends RangeError {
      readonly code = "E_QUOTA";
      readonly limit = 7n;
    }
    const plain = world.step("plain", () => {
      throw new Quota("over", { cause: new TypeError("inner") });
    });
    const typed = world.step(
      "typed",
      () => {
        throw new TypedFailure("soldOut", { left: 0 }, "nothing left");
      },
      { errors: { soldOut: z.unknown() } },
    );
    const notAnError = world.step("text", () => {
      throw "just text";
    });
    const f = flow("f", async (ctx) => {
      const mine: unknown[] = [];
      const note = (error: unknown): void => void mine.push(error);
      for (const step of [plain, typed, notAnError]) await ctx.run(step, 1).catch(note);
      await ctx.decide("d", () => Promise.reject(new DOMException("stopped", "AbortError"))).catch(note);
      await ctx.suspend({ on: "silence", timeout: 1 }).catch(note);
      caught.push(mine);
      await ctx.suspend({ on: "gate" });
    });
    let process = await world.open([f]);
    await process.start(f, null);
    await world.pass(10);
    for (let replay = 0; replay < 3; replay++) {
      process = await world.restart([f]);
      await world.until(process.runtime.resume("x", { eventType: "nothing" })).catch(() => {});
    }
    await process.finish("x", { gate: 1 });
    expect(caught.length).toBe(4);
    const [live] = caught;
    const stacks = (errors: unknown[] | undefined) => errors?.map((error) => (error as Error).stack);
    for (const replayed of caught.slice(1)) {
      deepStrictEqual(replayed, live);
      expect(stacks(replayed)).toEqual(stacks(live));
    }
    expect(live?.[0]).toMatchObject({
      message: "over",
      code: "E_QUOTA",
      limit: 7n,
      cause: { message: "inner" },
    });
    expect(live?.[0]).toBeInstanceOf(RangeError);
    expect((live?.[0] as Error).stack).toContain("values.test.ts");
    expect(live?.[1]).toBeInstanceOf(TypedFailure);
    expect(live?.[2]).toBe("just text");
    expect(live?.[3]).toBeInstanceOf(DOMException);
  });

  test("the caller's buffers are neither detached nor shared", async () => {
    const world = World.memory();
    const echo = world.step<Uint8Array, Uint8Array>("echo", (bytes) => bytes);
    const f = flow<Uint8Array>("f", async (ctx, bytes) => {
      const back = await ctx.run(echo, bytes);
      return [bytes, back];
    });
    const process = await world.open([f]);
    const input = Buffer.from("hello");
    await process.start(f, input);
    input.fill(0);
    const [first, back] = (await process.finish("x")).variables["_output"] as [Uint8Array, Uint8Array];
    expect([Buffer.from(first).toString(), Buffer.from(back).toString()]).toEqual(["hello", "hello"]);
    expect(input.length).toBe(5);
    expect(back.buffer.byteLength).toBeLessThan(100);
  });
});

describe("C-EFF-05: a value that cannot be recorded", () => {
  const unrecordable: readonly [string, () => unknown, string][] = [
    ["a function, deep inside", () => ({ rows: [1, 2, 3, { cb() {} }] }), "value.rows[3].cb"],
    ["a symbol", () => [Symbol("s")], "value[0]"],
    ["a class instance", () => ({ at: new URL("http://x") }), "value.at"],
    ["a proxy", () => ({ p: new Proxy({}, {}) }), "value.p"],
    ["a locked stream", () => ({ body: lockedStream() }), "value.body"],
    ["a promise", () => [Promise.resolve(1)], "value[0]"],
    [
      "a getter that throws",
      () =>
        Object.defineProperty({}, "bad", {
          enumerable: true,
          get: () => {
            throw new Error("no");
          },
        }),
      "value",
    ],
  ];

  function lockedStream(): ReadableStream {
    const stream = new ReadableStream();
    stream.getReader();
    return stream;
  }

  const failure = (error: unknown): unknown => {
    const { code, details } = error as HeddleError;
    return { code, path: details?.["path"] };
  };

  test.each(unrecordable)(
    "%s, as a step's input: refused at once, catchable, nothing recorded, siblings go on",
    async (_, make, path) => {
      const world = World.memory();
      const step = world.step("step", () => 1);
      const sibling = world.step("sibling", () => "fine");
      const f = flow("f", async (ctx) => {
        const [failed, fine] = await ctx.parallel([() => ctx.run(step, make()).catch(failure), [sibling, 1]]);
        return [failed, fine];
      });
      const process = await world.open([f]);
      await process.start(f, null);
      expect((await process.finish("x")).variables["_output"]).toEqual([
        { code: "VALUE_NOT_RECORDABLE", path },
        "fine",
      ]);
      expect(world.ran("step")).toBe(0);
      expect(await world.types()).toEqual([
        "EXECUTION_STARTED",
        "STEP_STARTED",
        "STEP_COMPLETED",
        "EXECUTION_COMPLETED",
      ]);
    },
  );

  test.each(unrecordable)(
    "%s, as a step's result: that step fails once, siblings go on, no redelivery",
    async (_, make, path) => {
      const world = World.memory();
      const bad = world.step("bad", () => make(), { retry: { maxAttempts: 5 } });
      const badLater = world.step("badLater", async () => {
        await world.delay(1);
        return make();
      });
      const sibling = world.step("sibling", () => world.delay(10).then(() => "fine"));
      const f = flow("f", async (ctx) =>
        ctx.parallel([
          () => ctx.run(bad, 1).catch(failure),
          () => ctx.run(badLater, 1).catch(failure),
          [sibling, 1],
        ]),
      );
      let process = await world.open([f]);
      await process.start(f, null);
      const expected = { code: "VALUE_NOT_RECORDABLE", path };
      if (path === "value[0]" && _ === "a promise")
        expect((await process.finish("x")).status).toBe("completed");
      else expect((await process.finish("x")).variables["_output"]).toEqual([expected, expected, "fine"]);
      process = await world.restart([f]);
      await world.pass(1_000_000);
      expect([world.ran("bad"), world.ran("badLater"), world.ran("sibling")]).toEqual([1, 1, 1]);
    },
  );

  test.each(unrecordable)("%s, anywhere else: refused at that call, with its path", async (_, make, path) => {
    const world = World.memory();
    const calls: readonly [string, (ctx: ExecutionContext) => unknown][] = [
      ["emit", (ctx) => ctx.emit("e", make())],
      ["set", (ctx) => ctx.ui.set("k", make())],
      ["decide", (ctx) => ctx.decide("d", () => make())],
      ["rationale", (ctx) => ctx.decide("r", () => 1, { rationale: make() })],
      [
        "step emit",
        (ctx) =>
          ctx.run(
            world.step("s", (__, { emit }) => emit("e", make())),
            1,
          ),
      ],
    ];
    const f = flow("f", async (ctx) => {
      const seen: unknown[] = [];
      for (const [name, call] of calls) {
        try {
          await call(ctx);
          seen.push([name, "accepted"]);
        } catch (error) {
          seen.push([name, failure(error)]);
        }
      }
      return seen;
    });
    const fails = flow("fails", async () => make());
    const process = await world.open([f, fails]);
    await process.start(f, null);
    expect((await process.finish("x")).variables["_output"]).toEqual(
      calls.map(([name]) => [name, { code: "VALUE_NOT_RECORDABLE", path }]),
    );
    await process.start(fails, null, "y");
    expect(await process.finish("y")).toMatchObject({
      status: "failed",
      error: { code: "VALUE_NOT_RECORDABLE" },
    });
    await expect(world.until(process.runtime.start(f, make(), { executionId: "z" }))).rejects.toMatchObject({
      code: "VALUE_NOT_RECORDABLE",
      details: { path },
    });
    await expect(world.until(process.runtime.loadState("z"))).rejects.toMatchObject({
      code: "EXECUTION_UNKNOWN",
    });
  });

  test("over the size: that call fails with size and limit, and siblings go on", async () => {
    const world = World.memory();
    const limits = { ...VALUE_LIMITS, bytesMax: 10_000 };
    const big = "x".repeat(10_001);
    const echo = world.step<unknown, unknown>("echo", (input) => input);
    const makes = world.step("makes", () => ({ rows: [big] }), { retry: { maxAttempts: 5 } });
    const sibling = world.step("sibling", () => "fine");
    const f = flow("f", async (ctx) => {
      const caught = (error: HeddleError): unknown => [
        error.code,
        error.details["path"],
        error.details["bytesMax"],
        (error.details["bytes"] as number) > 10_000,
      ];
      return ctx.parallel([
        () => ctx.run(echo, [big]).catch(caught),
        () => ctx.run(makes, 1).catch(caught),
        () => ctx.decide("d", () => big).catch(caught),
        [sibling, 1],
      ]);
    });
    const process = await world.open([f], { limits });
    await process.start(f, null);
    expect((await process.finish("x")).variables["_output"]).toEqual([
      ["VALUE_TOO_LARGE", "value[0]", 10_000, true],
      ["VALUE_TOO_LARGE", "value.rows[0]", 10_000, true],
      ["VALUE_TOO_LARGE", "value", 10_000, true],
      "fine",
    ]);
    expect([world.ran("echo"), world.ran("makes")]).toEqual([0, 1]);
    await expect(world.until(process.runtime.start(f, big, { executionId: "y" }))).rejects.toMatchObject({
      code: "VALUE_TOO_LARGE",
    });
  });

  test("a failure that carries something unrecordable is recorded with words for it", async () => {
    const world = World.memory();
    const step = world.step("step", () => {
      throw Object.assign(new Error("socket hung up"), {
        code: "ECONNRESET",
        agent: { cb() {} },
        request: { id: 7 },
      });
    });
    const f = flow("f", async (ctx) => ctx.run(step, 1));
    const process = await world.open([f]);
    await process.start(f, null);
    const { error } = await process.finish("x");
    expect(error).toMatchObject({ message: "socket hung up", code: "ECONNRESET", request: { id: 7 } });
    expect((error as { agent: unknown }).agent).toMatch(/^\[not recorded: a function/);
  });
});

describe("what enters the log as it stands has to be text", () => {
  const nasty: readonly [string, (ctx: ExecutionContext, world: World) => unknown][] = [
    ["the source of a decision", (ctx) => ctx.decide("d", () => 1, { source: (() => {}) as never })],
    ["the toolId of a task", (ctx) => ctx.execute({ id: "t", toolId: { cb() {} } as never }, 1)],
    ["the kind of a task", (ctx) => ctx.execute({ id: "t", kind: Symbol("k") as never }, 1)],
    ["a delta", (ctx) => ctx.stream("s", (() => {}) as never)],
  ];

  test.each(nasty)(
    "%s: otherwise the call is refused, and the neighbours' commit does not fail",
    async (_, call) => {
      const rejections = unhandledRejections();
      const world = World.memory();
      const f = flow("f", async (ctx) => {
        try {
          await call(ctx, world);
          return "accepted";
        } catch (error) {
          return (error as HeddleError).code;
        }
      });
      const failures: unknown[] = [];
      const process = await world.open([f], { onStorageError: (...args) => failures.push(args) });
      await process.start(f, null);
      expect((await process.finish("x")).variables["_output"]).toBe("INPUT_INVALID");
      expect(failures).toEqual([]);
      expect(rejections).toEqual([]);
    },
  );

  test("pieces of a stream may begin and end in half a character", async () => {
    const world = World.memory();
    const pieces = ["\ud83e", "\uddf5 and ", "\ud83e\uddf5"];
    const f = flow("f", async (ctx) => {
      for (const piece of pieces) ctx.stream("s", piece);
      await ctx.suspend({ on: "gate" });
    });
    let process = await world.open([f]);
    await world.until((await process.start(f, null)).waitForSuspend());
    process = await world.restart([f]);
    expect((await process.finish("x", { gate: 1 })).status).toBe("completed");
    const deltas = (await world.events())
      .filter(({ type }) => type === "s")
      .map(({ payload }) => (payload as { delta: string }).delta);
    expect(deltas).toEqual(pieces);
    expect(deltas.join("")).toBe("\u{1f9f5} and \u{1f9f5}");
  });

  test("the end of a stream is a boolean, whatever it was", async () => {
    const world = World.memory();
    const f = flow("f", async (ctx) => {
      ctx.stream("s", "a", (() => {}) as never);
      ctx.stream("s", "b", undefined);
    });
    const process = await world.open([f]);
    await process.start(f, null);
    expect((await process.finish("x")).status).toBe("completed");
    expect((await world.events()).filter(({ type }) => type === "s").map(({ payload }) => payload)).toEqual([
      { delta: "a", done: true },
      { delta: "b", done: false },
    ]);
  });

  test("the reason of a cancel", async () => {
    const world = World.memory();
    const f = flow("f", async (ctx) => ctx.suspend({ on: "gate" }));
    const process = await world.open([f]);
    await world.until((await process.start(f, null)).waitForSuspend());
    await expect(world.until(process.runtime.cancel("x", (() => {}) as never))).rejects.toMatchObject({
      code: "INPUT_INVALID",
    });
    expect((await process.finish("x", { gate: 1 })).status).toBe("completed");
  });
});
