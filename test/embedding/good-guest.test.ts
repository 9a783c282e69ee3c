// C-EMB-01: heddle is a guest in the host's process. It leaves no traces, never ends it, never keeps it from ending, and
// what the host's own code does wrong in a hook hurts nobody.

import { describe, expect, it } from "vitest";
import { startChild } from "../crash/child.js";
import { RawLog } from "../lifecycle/raw-log.js";
import {
  flow,
  latch,
  openApp,
  step,
  temporaryDirectory,
  turns,
  unhandledRejections,
  within,
} from "../lifecycle/world.js";

const program = (name: string): URL => new URL(`./programs/${name}`, import.meta.url);

describe("C-EMB-01: the process", () => {
  it("keeps its listeners, globals and output, and ends by itself after close", async () => {
    const child = startChild(program("traces.mjs"), { args: [temporaryDirectory()] });
    const { code, stderr } = await within(child.ended, "the process ends by itself", 10_000);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const { imported, opened, used, closed, stdout, ...rest } = JSON.parse(child.lines[0]!) as Record<
      string,
      string[]
    >;
    // zod, which flows bring, registers itself for its other copies; lmdb-js closes its environments when the process exits.
    const zod = ["global __zod_globalConfig", "global __zod_globalRegistry"];
    const lmdb = ["listeners of exit: 1 -> 2", ...zod, "global __lmdb_read_callback", "global __lmdb_envs__"];
    expect({ imported, opened, used, closed }).toEqual({
      imported: [],
      opened: lmdb,
      used: lmdb,
      closed: lmdb,
    });
    expect({ stdout, stderr: rest["stderr"] }).toEqual({ stdout: 0, stderr: 0 });
  });

  it.each([
    ["flush", "durable", 2_000],
    ["flush", "appended", 2_000],
    ["flush", "subscriber", 3],
    ["flush", "effect", 700],
    ["flush", "flow", 700],
    ["commit", "durable", 5_000],
    ["commit", "appended", 5_000],
    ["commit", "effect", 1_500],
  ])(
    "sync %s: ends within a second of process.exit(3) in a hook (%s, %i times)",
    async (sync, where, count) => {
      const child = startChild(program("exit-under-load.mjs"), {
        args: [temporaryDirectory(), sync, where, String(count)],
      });
      const { code, signal, stderr } = await within(child.ended, "the process ends", 20_000);
      const ended = Date.now();
      expect({ code, signal, stderr }).toEqual({ code: 3, signal: null, stderr: "" });
      const exit = child.lines.find((line) => line.startsWith("exit "));
      expect(ended - Number(exit?.slice("exit ".length)), "milliseconds").toBeLessThan(1_000);
      expect(child.lines.at(-1)).toBe("exiting with 3");
    },
  );

  it("survives promises that nobody awaits", async () => {
    const child = startChild(program("unawaited.mjs"), { args: [temporaryDirectory()] });
    const { code, stderr } = await within(child.ended, "the process ends by itself", 10_000);
    expect({ code, stderr, lines: child.lines }).toEqual({ code: 0, stderr: "", lines: ["alive"] });
  });
});

describe("C-EMB-01: hooks that throw", () => {
  const thrower = (name: string) => (): never => {
    throw new Error(`from ${name}`);
  };
  const rejection = async (name: string): Promise<void> => {
    await turns(1);
    throw new Error(`from ${name}`);
  };
  // An async function fits where a hook returns nothing, and a host's JavaScript has nobody to say that it is wrong.
  const rejecter = (name: string) => (): void => rejection(name) as unknown as void;

  it.each([
    ["throws", thrower],
    ["rejects later", rejecter],
  ] as const)("every observer %s: executions run, the failures are reported", async (_how, hook) => {
    const unhandled = unhandledRejections();
    const warnings: string[] = [];
    const one = flow("one", (ctx, input) =>
      ctx.run(
        step("work", () => input),
        input,
      ),
    );
    const app = openApp({
      dir: temporaryDirectory(),
      flows: [one],
      observability: {
        onEvent: hook("onEvent"),
        onDurableEvent: hook("onDurableEvent"),
        onStorageError: hook("onStorageError"),
        onWarn: (message) => warnings.push(message),
      },
    });
    app.stores.eventStore.subscribe("x", hook("the subscriber"));
    const seen = latch();
    const types: string[] = [];
    app.stores.eventStore.subscribe("x", ({ type }) => {
      types.push(type);
      if (type === "EXECUTION_COMPLETED") seen.open();
    });
    const handle = await app.runtime.start(one, 7, { executionId: "x" });
    expect(await within(handle.result(), "result")).toBe(7);
    await within(seen.opened, "another subscriber hears of everything");
    expect(types).toEqual(["EXECUTION_STARTED", "STEP_STARTED", "STEP_COMPLETED", "EXECUTION_COMPLETED"]);
    await turns();
    for (const name of ["onEvent", "onDurableEvent", "the subscriber"]) {
      expect(
        warnings.filter((message) => message.includes(`from ${name}`)),
        name,
      ).toHaveLength(4);
    }
    expect(unhandled).toEqual([]);
  });

  it.each([
    ["throws", thrower],
    ["rejects later", rejecter],
  ] as const)("onWarn %s: nobody is left to tell, and nobody is hurt", async (_how, hook) => {
    const unhandled = unhandledRejections();
    const dir = temporaryDirectory();
    const parked = flow("parked", (ctx) => ctx.suspend({ on: "go" }));
    const before = openApp({ dir, flows: [parked] });
    for (const id of ["a", "b"])
      await within((await before.runtime.start(parked, 0, { executionId: id })).waitForSuspend(), id);
    await before.close();
    const log = new RawLog(dir);
    await log.changeRecord("a", 0, (bytes) => bytes.fill(0xc1));
    await log.close();
    const app = openApp({
      dir,
      flows: [parked],
      observability: {
        onWarn: hook("onWarn"),
        onEvent: hook("onEvent"),
        onDurableEvent: hook("onDurableEvent"),
      },
    });
    app.stores.eventStore.subscribe("b", hook("the subscriber"));
    await app.runtime.resume("a", { eventType: "go" }).catch(() => {});
    await app.runtime.resume("b", { eventType: "go", payload: 1 });
    expect(await within(app.runtime.handle("b").result(), "result")).toBe(1);
    await turns();
    expect(unhandled).toEqual([]);
  });

  it("a middleware that throws fails the step, and the flow may catch it", async () => {
    const broken = flow("broken", async (ctx) => {
      try {
        return await ctx.run(
          step("work", () => "done"),
          0,
        );
      } catch (error) {
        return `caught ${(error as Error).message}`;
      }
    });
    const app = openApp({
      flows: [broken],
      execution: {
        effectMiddleware: [
          () => {
            throw new Error("from the middleware");
          },
        ],
      },
    });
    const handle = await app.runtime.start(broken, 0);
    expect(await within(handle.result(), "result")).toBe("caught from the middleware");
  });

  it("a schema that throws is the caller's error, not the host's end", async () => {
    const unhandled = unhandledRejections();
    const { z } = await import("zod");
    const explosive = z.unknown().refine(() => {
      throw new Error("from the schema");
    });
    const strict = flow("strict", async () => 1, { inputSchema: explosive });
    const gated = flow("gated", (ctx) => ctx.suspend({ on: "go" }), { resumeSchemas: { go: explosive } });
    const app = openApp({ flows: [strict, gated] });
    await expect(app.runtime.start(strict, 0)).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    const handle = await app.runtime.start(gated, 0, { executionId: "g" });
    await within(handle.waitForSuspend(), "gate");
    await expect(app.runtime.resume("g", { eventType: "go" })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
    });
    expect((await handle.getState()).status).toBe("suspended");
    expect(unhandled).toEqual([]);
  });
});
