// Bad input for a pool beside an app: a typed error that names the option as the user wrote it, and nothing half started.

import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { defineConfig, type HeddleConfig, HeddleError, lmdbStorage, ToolEffect } from "heddle";
import { describe, expect, it } from "vitest";
import { errorOf, temporaryDirectory, until, within } from "../partitions/world.js";
import * as flowModule from "./programs/flows.mjs";
import { EFFECTS, FLOWS, flowOf, openApp } from "./world.js";

const threadsAlive = (): string[] =>
  process.getActiveResourcesInfo().filter((resource) => /Worker|MessagePort/.test(resource));

function moduleOf(text: string): URL {
  const file = join(temporaryDirectory(), "module.mjs");
  writeFileSync(file, text);
  return pathToFileURL(file);
}

/** What keeps the app from starting; nothing of it is left, and the directory is anybody's. */
async function refusalOf(workers: HeddleConfig["workers"], execution = {}): Promise<Error> {
  const dir = join(temporaryDirectory(), "log");
  const options = { storage: lmdbStorage({ dir }), flowModules: [{ ...flowModule }], execution };
  let error: Error;
  try {
    const app = defineConfig({ ...options, workers, autostart: false });
    error = await within(errorOf(app.start()), "the opening");
    expect(await errorOf(app.runtime.start(flowOf("single"), 0))).toMatchObject({ message: error.message });
    expect(threadsAlive()).toEqual([]);
    await app.close();
  } catch (thrown) {
    if (!(thrown instanceof HeddleError)) throw thrown;
    error = thrown; // refused before there is anything to start
  }
  expect(threadsAlive()).toEqual([]);
  expect(existsSync(dir)).toBe(false);
  const other = openApp({ dir });
  const handle = await other.runtime.start(flowOf("single"), { toolId: "echo", input: 1 });
  expect(await within(handle.result(), "another app")).toBe(1);
  await other.close();
  await until(() => threadsAlive().length === 0, "the other app is gone");
  return error;
}

describe.each([
  ["in the host's thread", 0],
  ["in two partition threads", 2],
])("with executions %s", (_where, actors) => {
  it.each([
    [
      "is not there",
      () => new URL("./programs/nowhere.mjs", import.meta.url),
      "cannot be loaded: Cannot find",
    ],
    ["throws", () => moduleOf('throw new Error("no key")'), "cannot be loaded: no key."],
    ["exports no effects", () => moduleOf("export const effect = {};"), "does not export `effects`"],
    ["ends its thread", () => moduleOf("process.exit(5);"), "was ended by process.exit, with code 5"],
  ])("a module that %s", async (_what, module, words) => {
    const error = await refusalOf({ actors, app: FLOWS, effects: { module: module(), maxThreads: 2 } });
    expect(error).toBeInstanceOf(HeddleError);
    expect(error).toMatchObject({ code: "CONFIG_INVALID", details: { option: "workers.effects.module" } });
    expect(error.message).toContain(words);
  });

  it.each([
    [{ minThreads: 3, maxThreads: 2 }, "maxThreads", "is 2, below workers.effects.minThreads, which is 3"],
    [{ minThreads: 3, maxThreads: 1 }, "maxThreads", "is 1, below workers.effects.minThreads, which is 3"],
    [{ maxThreads: 0 }, "maxThreads", "must be a whole number from 1 to 1024, not 0"],
    [{ maxThreads: 2.5 }, "maxThreads", "must be a whole number from 1 to 1024, not 2.5"],
    [{ maxThreads: "2" }, "maxThreads", 'must be a whole number from 1 to 1024, not "2"'],
    [{ minThreads: -2 }, "minThreads", "must be a whole number from 0 to 1024, not -2"],
    [{ callsPerThread: 0 }, "callsPerThread", "must be a whole number from 1 to 4096, not 0"],
    [{ maxQueue: -1 }, "maxQueue", "must be a whole number of at least 0, not -1"],
    [{ maxQueues: 1 }, "maxQueues", "is no option here"],
  ])("limits that cannot be: %j", async (limits, option, words) => {
    const effects = { module: EFFECTS, ...limits } as NonNullable<HeddleConfig["workers"]>["effects"];
    const error = await refusalOf({ actors, app: FLOWS, effects });
    expect(error).toBeInstanceOf(HeddleError);
    expect(error).toMatchObject({ code: "CONFIG_INVALID", details: { option: `workers.effects.${option}` } });
    expect(error.message).toContain(words);
  });

  it("limits that cannot be, while it runs: what was there stays", async () => {
    const app = openApp({ actors });
    await app.start();
    for (const [limits, option] of [
      [{ maxThreads: -2 }, "maxThreads"],
      [{ minThreads: 3, maxThreads: 2 }, "maxThreads"],
      [{ maxQueue: 1.5 }, "maxQueue"],
      [{ module: EFFECTS }, "module"],
    ] as const) {
      expect(await errorOf(app.workers.tune(limits as object))).toMatchObject({
        code: "CONFIG_INVALID",
        details: { option: `workers.effects.${option}` },
      });
    }
    const handle = await app.runtime.start(flowOf("single"), { toolId: "echo", input: 1 });
    expect(await within(handle.result(), "result")).toBe(1);
  });

  it("an effect for the pool that its module does not export", async () => {
    const app = moduleOf(
      `export * from ${JSON.stringify(FLOWS.href)};
       const lonely = { kind: "tool", placement: "pool", execute: () => 0 };
       export const registerEffects = (effects) => effects.register("lonely", lonely);`,
    );
    const registerEffects: NonNullable<HeddleConfig["execution"]>["registerEffects"] = (effects) =>
      effects.register("lonely", new ToolEffect(() => 0, { placement: "pool" }));
    const workers = { actors, app, effects: { module: EFFECTS, maxThreads: 2 } };
    const error = await refusalOf(workers, actors === 0 ? { registerEffects } : {});
    expect(error).toBeInstanceOf(HeddleError);
    expect(error).toMatchObject({ code: "CONFIG_INVALID", details: { toolId: "lonely" } });
    expect(error.message).toContain(
      'Effect lonely is registered with placement: "pool", but workers.effects.module',
    );
  });

  it("may be put right: the next start tries again", async () => {
    const module = moduleOf("export {};");
    const app = openApp({ actors, pool: { module } });
    expect(await errorOf(app.start())).toMatchObject({ code: "CONFIG_INVALID" });
    writeFileSync(module, `export * from ${JSON.stringify(EFFECTS.href)};`);
    await within(app.start(), "the second opening");
    const handle = await app.runtime.start(flowOf("single"), { toolId: "echo", input: 1 });
    expect(await within(handle.result(), "result")).toBe(1);
  });

  it.each([
    ["an input", "unsendable", "input"],
    ["a result", "single", "result"],
  ])("a function in %s fails the step, with the path to it", async (_what, flow) => {
    const app = openApp({ actors });
    const handle = await app.runtime.start(flowOf(flow), { toolId: "unsendable", input: 1 });
    const { cause } = await within(errorOf(handle.result()), "the failure");
    expect(cause).toMatchObject({ code: "VALUE_NOT_RECORDABLE" });
    expect((cause as Error).message).toContain("rows[1].cb");
    // And nothing else is any the worse for it.
    const fine = await app.runtime.start(flowOf("single"), { toolId: "echo", input: 2 });
    expect(await within(fine.result(), "the next one")).toBe(2);
  });
});
