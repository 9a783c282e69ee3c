// defineConfig: options stand in groups, an option that would be ignored is refused, and the message names the next move.

import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  type Budget,
  defineConfig,
  GrantTable,
  type HeddleError,
  KillSwitch,
  type LoomConfig,
  lmdbStorage,
  ToolEffect,
  tool$,
} from "../../src/index.js";
import { flow, openApp, step, temporaryDirectory, within } from "../lifecycle/world.js";

/** The error defineConfig throws for options TypeScript would not let through. */
function refusal(options: unknown): HeddleError {
  let app: ReturnType<typeof defineConfig>;
  try {
    app = defineConfig(options as LoomConfig);
  } catch (error) {
    return error as HeddleError;
  }
  void app.close();
  throw new Error(`Nothing was refused: ${JSON.stringify(options)}`);
}

const memory = { kind: "memory" } as const;

describe("an option in the wrong place", () => {
  it.each([
    ["onEvent", "observability"],
    ["onDurableEvent", "observability"],
    ["onWarn", "observability"],
    ["onStorageError", "observability"],
    ["telemetry", "observability"],
    ["snapshotEvery", "durability"],
    ["retention", "durability"],
    ["registerEffects", "execution"],
    ["effectMiddleware", "execution"],
    ["now", "execution"],
    ["validateInput", "execution"],
    ["authorizer", "security"],
    ["policies", "security"],
    ["verify", "checks"],
  ])("%s at the top is sent to %s", (option, group) => {
    const error = refusal({ storage: memory, [option]: () => {} });
    expect(error.code).toBe("CONFIG_OPTION_MOVED");
    expect(error.message).toContain(`defineConfig({ ${group}: { ${option} } })`);
    expect(error.details).toEqual({ option, group });
  });

  it.each([
    [{ flow: [] }, /no option flow\. Did you mean flows\?/],
    [{ storege: memory }, /no option storege\. Did you mean storage\?/],
    [{ autoStart: false }, /Did you mean autostart\?/],
    [
      { execution: { validateInputs: true } },
      /no option execution\.validateInputs\. Did you mean validateInput\?/,
    ],
    [{ observability: { onWarning: () => {} } }, /Did you mean onWarn\?/],
    [{ durability: { everySnapshot: 5 } }, /no option durability\.everySnapshot\.$/],
    [{ constructor: 1 }, /no option constructor/],
    [{ toString: 1 }, /no option toString/],
    [{ execution: { constructor: 1 } }, /no option execution\.constructor/],
  ])("%j is unknown, with a suggestion where there is one", (options, message) => {
    const error = refusal({ storage: memory, ...options });
    expect(error.code).toBe("CONFIG_INVALID");
    expect(error.message).toMatch(message);
  });

  it.each([
    [{ capabilityAgents: {} }, "capabilityAgents"],
    [{ a2a: true }, "a2a"],
    [{ scheduleModules: [] }, "scheduleModules"],
    [{ security: { compliance: {} } }, "security.compliance"],
    [{ durability: { retention: {} } }, "durability.retention"],
    [{ execution: { errorClasses: {} } }, "execution.errorClasses"],
    [{ surfaces: [{ id: "s", redact: ["secret"] }] }, "surfaces[s].redact"],
  ])("%j is not there yet, and is refused rather than ignored", (options, option) => {
    const error = refusal({ storage: memory, ...options });
    expect(error.code).toBe("CONFIG_INVALID");
    expect(error.message).toContain(`${option} is not in this version`);
  });

  it("an option that is undefined was not given", async () => {
    const app = openApp({
      storage: memory,
      flows: undefined,
      security: undefined,
      observability: { onEvent: undefined, telemetry: undefined },
      execution: { now: undefined, maxResident: undefined },
    });
    await app.start();
  });
});

describe("an option with a wrong value", () => {
  const one = flow("one", async () => 1);

  it.each([
    [/takes an object of options/, undefined],
    [/takes an object of options/, null],
    [/takes an object of options/, "config"],
    [/storage must be/, {}],
    [/storage must be/, { storage: undefined }],
    [/storage must be/, { storage: "memory" }],
    [/storage must be.*lmdbStorage\(\{ dir \}\)/, { storage: { kind: "sqlite" } }],
    [/needs a directory/, { storage: { kind: "lmdb" } }],
    [/needs a directory/, { storage: lmdbStorage({ dir: "" }) }],
    [/sync is "flush" or "commit"/, { storage: lmdbStorage({ dir: "x", sync: "never" as "commit" }) }],
    [/whole number from 1 to 999/, { storage: lmdbStorage({ dir: "x", partitions: 0 }) }],
    [/whole number from 1 to 999/, { storage: lmdbStorage({ dir: "x", partitions: 2.5 }) }],
    [
      /branching is not in this version/,
      { storage: { kind: "custom", eventStore: {}, snapshotStore: {}, branchRegistry: {} } },
    ],
    [/eventStore/, { storage: { kind: "custom" } }],
    [
      /snapshotEvery must be a whole number of at least 1, not 0/,
      { storage: memory, durability: { snapshotEvery: 0 } },
    ],
    [/maxResident must be a whole number of at least 0/, { storage: memory, execution: { maxResident: -1 } }],
    [/maxValueBytes must be a whole number/, { storage: memory, execution: { maxValueBytes: "1MB" } }],
    [/execution is a group of options/, { storage: memory, execution: true }],
    [/observability is a group of options/, { storage: memory, observability: null }],
    [/observability\.onEvent must be a function/, { storage: memory, observability: { onEvent: "log" } }],
    [/observability\.onWarn must be a function/, { storage: memory, observability: { onWarn: {} } }],
    [
      /execution\.registerEffects must be a function/,
      { storage: memory, execution: { registerEffects: {} } },
    ],
    [/execution\.now must be a function/, { storage: memory, execution: { now: 5 } }],
    [
      /execution\.effectMiddleware must be a list/,
      { storage: memory, execution: { effectMiddleware: () => 0 } },
    ],
    [/flows must be a list/, { storage: memory, flows: one }],
    [/flows\[0\] is no flow/, { storage: memory, flows: [undefined] }],
    [/flows\[1\] is no flow.*defineFlow/, { storage: memory, flows: [one, one.definition] }],
    [/flowModules must be a list/, { storage: memory, flowModules: { one } }],
    [/flowModules\[0\] is no module/, { storage: memory, flowModules: [undefined] }],
    [/surfaces must be a list/, { storage: memory, surfaces: "main" }],
    [/surfaces\[0\]/, { storage: memory, surfaces: [null] }],
  ])("%s", (message, options) => {
    const error = refusal(options);
    expect(error).toMatchObject({ code: "CONFIG_INVALID" });
    expect(error.message).toMatch(message);
  });

  it.each<[string, unknown]>([
    ["flows", { flows: one }],
    ["flows[1]", { flows: [one, one.definition] }],
    ["autostart", { autostart: "no" }],
    ["execution", { execution: true }],
    ["execution.maxInFlight", { execution: { maxInFlight: 0 } }],
    ["execution.admission", { execution: { admission: "later" } }],
    ["execution.validateInput", { execution: { validateInput: "no" } }],
    ["execution.maxinflight", { execution: { maxinflight: 5 } }],
    ["execution.effectMiddleware[0]", { execution: { effectMiddleware: [3] } }],
    ["security.strict", { security: { strict: true } }],
    ["security.authorizer", { security: { authorizer: {} } }],
    ["security.compliance", { security: { compliance: {} } }],
    ["observability.onEvent", { observability: { onEvent: "log" } }],
    ["durability.snapshotEvery", { durability: { snapshotEvery: 0 } }],
    ["storage", { storage: { kind: "sqlite" } }],
    ["storage.dir", { storage: { kind: "lmdb" } }],
    ["storage.sync", { storage: { kind: "lmdb", dir: "x", sync: "never" } }],
  ])("%s is named in the details", (option, options) => {
    expect(refusal({ storage: memory, ...(options as object) })).toMatchObject({
      code: "CONFIG_INVALID",
      details: { option },
    });
  });

  it("two flows of one name conflict; one flow twice does not", async () => {
    const error = refusal({ storage: memory, flows: [one, flow("one", async () => 2)] });
    expect(error.code).toBe("DEFINITION_CONFLICT");
    expect(error.message).toMatch(/one version 1; give one of them another id/);
    await openApp({ flows: [one, one], flowModules: [{ one, other: 5, nothing: undefined }] }).start();
  });

  it("a directory has the partitions it was made with", async () => {
    const dir = temporaryDirectory();
    const made = openApp({ storage: lmdbStorage({ dir, partitions: 2 }), flows: [one] });
    await made.start();
    await made.close();
    const error = refusal({ storage: lmdbStorage({ dir, partitions: 3 }) });
    expect(error.code).toBe("CONFIG_INVALID");
    expect(error.message).toMatch(/made with 2 partitions.*partitions: 2, or leave the option out/);
    await openApp({ storage: lmdbStorage({ dir }), flows: [one] }).start();
  });
});

describe("what the options do", () => {
  it("flowModules takes every registered flow a module exports", async () => {
    const first = flow("first", async () => 1);
    const second = flow("second", async () => 2);
    const app = openApp({ flowModules: [{ first, helper: () => 0, VERSION: "1" }, { default: second }] });
    expect(await within((await app.runtime.start(first, 0)).result(), "first")).toBe(1);
    expect(await within((await app.runtime.start(second, 0)).result(), "second")).toBe(2);
  });

  it("registerEffects and effectRuntime.register run what steps name by toolId, under the ring", async () => {
    const seen: string[] = [];
    const mail = tool$({
      id: "mail",
      name: "mail",
      description: "sends",
      inputSchema: z.string(),
      outputSchema: z.string(),
    });
    const sends = flow("sends", async (ctx) => [
      await ctx.execute(mail, "a"),
      await ctx.execute({ id: "later", toolId: "added" }, "b"),
      await ctx.run(
        step("inline", () => "c"),
        0,
      ),
    ]);
    const app = openApp({
      flows: [sends],
      execution: {
        registerEffects: (effects) =>
          effects.register("mail", new ToolEffect((input: string) => `sent ${input}`)),
        effectMiddleware: [
          async (ctx, _input, next) => {
            seen.push(`outer ${ctx.toolId}`);
            return `[${String(await next())}]`;
          },
          async (_ctx, input, next) => {
            seen.push("inner");
            return next(typeof input === "string" ? input.toUpperCase() : input);
          },
        ],
      },
    });
    app.effectRuntime.register("added", new ToolEffect((input: string) => `added ${input}`));
    expect(await within((await app.runtime.start(sends, 0)).result(), "result")).toEqual([
      "[sent A]",
      "[added B]",
      "[c]",
    ]);
    expect(seen).toEqual(["outer mail", "inner", "outer added", "inner", "outer inline", "inner"]);
  });

  it("now is the time of events, timers and ctx.now()", async () => {
    let time = Date.UTC(2020, 0, 1);
    const timed = flow("timed", async (ctx) => {
      const begun = ctx.now();
      await ctx.sleep(1_000);
      return ctx.now() - begun;
    });
    const app = openApp({ flows: [timed], execution: { now: () => time } });
    const handle = await app.runtime.start(timed, 0, { executionId: "x" });
    const [started] = await app.stores.eventStore.read("x");
    expect(started?.timestamp).toBe(time);
    time += 60_000;
    expect(await within(handle.result(), "the sleep ends by the given clock")).toBe(60_000);
  });

  it("validateInput: false lets inputs through as they are", async () => {
    const strict = flow("strict", async (_ctx, input) => input, { inputSchema: z.coerce.number() });
    const checked = openApp({ flows: [strict] });
    expect(await within((await checked.runtime.start(strict, "5")).result(), "result")).toBe(5);
    const unchecked = openApp({ flows: [strict], execution: { validateInput: false } });
    expect(await within((await unchecked.runtime.start(strict, "five")).result(), "result")).toBe("five");
  });

  it("snapshotEvery saves what shortens the next fold, and changes no state", async () => {
    const dir = temporaryDirectory();
    const long = flow("long", async (ctx) => {
      for (let i = 0; i < 30; i++)
        await ctx.run(
          step(`s#${i}`, () => i),
          0,
        );
      return ctx.suspend({ on: "go" });
    });
    const app = openApp({ dir, flows: [long], durability: { snapshotEvery: 10 } });
    const state = await within(
      (await app.runtime.start(long, 0, { executionId: "x" })).waitForSuspend(),
      "gate",
    );
    await app.close();
    const again = openApp({ dir, flows: [long], durability: { snapshotEvery: 10 } });
    expect(await again.runtime.loadState("x")).toEqual(state);
    expect((await again.stores.snapshotStore.load("x"))?.sequence).toBeGreaterThan(40);
    await again.close();
    expect(await openApp({ dir, flows: [long] }).runtime.loadState("x")).toEqual(state);
  });

  it("autostart: false opens nothing before start", async () => {
    const { existsSync } = await import("node:fs");
    const dir = `${temporaryDirectory()}/made later`;
    const one = flow("one", async () => 1);
    const app = openApp({ dir, flows: [one], autostart: false });
    expect(existsSync(dir)).toBe(false);
    await Promise.all([app.start(), app.start()]);
    await app.start();
    expect(existsSync(dir)).toBe(true);
    expect(await within((await app.runtime.start(one, 0)).result(), "result")).toBe(1);
  });
});

describe("security.strict", () => {
  const authorizer = new GrantTable({});
  const killSwitch = new KillSwitch();
  const budgets: Budget[] = [{ scope: "execution", meter: "calls", limit: 10 }];

  it.each([
    ["an authorizer", { killSwitch }, { budgets }, /security\.authorizer/],
    ["a kill switch", { authorizer }, { budgets }, /security\.killSwitch/],
    ["an envelope", { authorizer, killSwitch }, undefined, /execution\.envelope\.budgets/],
    ["budgets", { authorizer, killSwitch }, { budgets: [] }, /execution\.envelope\.budgets/],
    ["anything", {}, undefined, /authorizer, security\.killSwitch, execution/],
  ])("refuses an app without %s", (_, security, envelope, message) => {
    const error = refusal({
      storage: memory,
      security: { ...security, strict: true },
      execution: { ...(envelope && { envelope }) },
    });
    expect(error.code).toBe("CONFIG_INVALID");
    expect(error.message).toMatch(message);
  });

  it("is what app.strict says", async () => {
    const security = { authorizer, killSwitch, strict: true };
    const app = defineConfig({ storage: memory, security, execution: { envelope: { budgets } } });
    expect(app.strict).toBe(true);
    await app.close();
    const lax = defineConfig({ storage: memory });
    expect(lax.strict).toBe(false);
    await lax.close();
  });

  it.each([
    [{ executionAuthorizer: {} }, /security\.executionAuthorizer must have a function authorize/],
    [{ executionAuthorizer: () => true }, /security\.executionAuthorizer must have a function authorize/],
    [{ resumeAuthenticator: {} }, /security\.resumeAuthenticator must have a function authenticate/],
    [{ onExecutionDenied: "log" }, /security\.onExecutionDenied must be a function/],
    [{ strict: "yes" }, /security\.strict must be true or false/],
  ])("%o is refused", (security, message) => {
    const error = refusal({ storage: memory, security });
    expect(error.code).toBe("CONFIG_INVALID");
    expect(error.message).toMatch(message);
  });
});
