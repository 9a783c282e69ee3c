// Bad input: a typed error that names the option as the user wrote it, and nothing half started.

import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { defineConfig, defineFlow, flow$, HeddleError, lmdbStorage, ToolEffect } from "heddle";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { errorOf, FLOWS, flowOf, openApp, temporaryDirectory, within } from "./world.js";

const threadsAlive = (): string[] =>
  process.getActiveResourcesInfo().filter((resource) => /Worker|MessagePort/.test(resource));

/** What defineConfig says of it at once. */
function refusal(options: object): HeddleError {
  try {
    const app = defineConfig({ storage: lmdbStorage({ dir: "/nowhere" }), ...options });
    void app.close();
  } catch (error) {
    if (error instanceof HeddleError) return error;
    throw error;
  }
  throw new Error(`Nothing was refused: ${JSON.stringify(options)}`);
}

describe("an option that cannot be", () => {
  it.each([
    [{ workers: 2 }, "workers is a group of options"],
    [{ workers: { threads: 2 } }, "workers.threads is no option here. There are: actors, app, entry"],
    [{ workers: { actors: -1 } }, "workers.actors must be a whole number from 0 to 256, not -1."],
    [{ workers: { actors: 1.5 } }, "workers.actors must be a whole number from 0 to 256, not 1.5."],
    [{ workers: { actors: "2" } }, 'workers.actors must be a whole number from 0 to 256, not "2".'],
    [{ workers: { actors: 2 } }, "workers.app has to name the module that exports the flows"],
    [{ workers: { app: "./flows.js" } }, 'workers.app must be a URL or an absolute path, not "./flows.js"'],
    [{ workers: { app: {} } }, "workers.app must be a URL or an absolute path, not object"],
    [{ workers: { entry: "./x.js" } }, "workers.entry must be a URL"],
    [{ workers: { entry: new URL("https://example.org/x.js") } }, "workers.entry must be a URL"],
    [
      { workers: { resourceLimits: { heap: 1 } } },
      "workers.resourceLimits.heap is no limit of a worker thread",
    ],
    [
      { workers: { resourceLimits: { stackSizeMb: 0 } } },
      "workers.resourceLimits.stackSizeMb must be a number of at least 1, not 0.",
    ],
    [
      { storage: { kind: "memory" }, workers: { actors: 1, app: FLOWS } },
      "workers.actors needs a log that threads share",
    ],
    [
      { workers: { actors: 1, app: FLOWS }, execution: { registerEffects: () => {} } },
      "execution.registerEffects does not go with workers.actors: a function cannot cross threads. Export registerEffects",
    ],
    [
      { workers: { actors: 1, app: FLOWS }, execution: { effectMiddleware: [] } },
      "execution.effectMiddleware does not go with workers.actors",
    ],
    [
      { workers: { actors: 1, app: FLOWS }, execution: { now: () => 0 } },
      "execution.now does not go with workers.actors",
    ],
    [{ execution: { admission: "maybe" } }, 'execution.admission must be "wait" or "reject", not "maybe".'],
    [{ execution: { maxInFlight: 0 } }, "execution.maxInFlight must be a whole number of at least 1, not 0."],
  ])("%j", (options, words) => {
    const error = refusal(options);
    expect(error.code).toBe("CONFIG_INVALID");
    expect(error.message).toContain(words);
    expect(threadsAlive()).toEqual([]);
  });

  it("more threads than a directory has partitions", async () => {
    const dir = temporaryDirectory();
    const made = openApp({ dir, partitions: 2 });
    await made.start();
    await made.close();
    const storage = lmdbStorage({ dir });
    const error = refusal({ storage, workers: { actors: 3, app: FLOWS } });
    expect(error.code).toBe("CONFIG_INVALID");
    expect(error.message).toContain("workers.actors is 3, and ");
    expect(error.message).toContain("has 2 partitions");
  });

  it("an effect registered where it would never be called", () => {
    const app = openApp({ autostart: false });
    expect(() => app.effectRuntime.register("late", new ToolEffect(() => 0))).toThrow(
      /workers.app names the module whose effects run: effect late/,
    );
  });
});

describe("a module that does not do", () => {
  const moduleOf = (dir: string, text: string): URL => {
    const file = join(dir, "module.mjs");
    writeFileSync(file, text);
    return pathToFileURL(file);
  };
  const other = defineFlow(
    flow$({ id: "other", version: "2", inputSchema: z.unknown(), outputSchema: z.unknown() }),
    async () => 0,
  );

  it.each([
    ["is not there", undefined, /workers\.app .*nowhere\.mjs cannot be loaded: Cannot find module/],
    ["does not parse", "export const = ;", /workers\.app .* cannot be loaded: /],
    ["throws", 'throw new Error("no database")', /workers\.app .* cannot be loaded: no database\./],
    [
      "exports no flow",
      "export {};",
      /workers\.app .* does not export flow echo version 1.*It exports: no flow/,
    ],
    [
      "has a wrong export",
      "export const registerEffects = 5;",
      /exports registerEffects, which has to be a function/,
    ],
    ["has no list", "export const effectMiddleware = () => {};", /effectMiddleware, which has to be a list/],
    [
      "throws later",
      'export const registerEffects = () => { throw new Error("no model"); };',
      /exports registerEffects, which throws: Error: no model/,
    ],
    [
      "never ends to load",
      "await new Promise(() => setInterval(() => {}, 1_000));",
      /has not been loaded within 1000 ms: .* raise workers\.loadTimeoutMs/,
    ],
    ["ends its thread", "process.exit(5);", /The thread of partitions? .* ended: it exited with code 5/],
  ])("because it %s", async (_name, text, words) => {
    const dir = temporaryDirectory();
    const module = text === undefined ? pathToFileURL(join(dir, "nowhere.mjs")) : moduleOf(dir, text);
    const log = join(dir, "log");
    const app = defineConfig({
      storage: lmdbStorage({ dir: log }),
      flows: [flowOf("echo")],
      workers: { actors: 2, app: module, loadTimeoutMs: text?.startsWith("await") ? 1_000 : 60_000 },
    });
    const error = await within(errorOf(app.start()), "the opening");
    expect(error).toBeInstanceOf(HeddleError);
    expect(error.message).toMatch(words);
    if (text !== "process.exit(5);")
      expect(error).toMatchObject({ code: "CONFIG_INVALID", details: { option: "workers.app" } });
    expect(await errorOf(app.runtime.start(flowOf("echo"), 0))).toMatchObject({ message: error.message });
    expect(threadsAlive()).toEqual([]);
    expect(existsSync(log)).toBe(false);
    await app.close();
  });

  it("because the host registered a flow it does not export, also later on", async () => {
    const app = openApp({ flows: [other] });
    const error = await errorOf(app.start());
    expect(error).toMatchObject({ code: "CONFIG_INVALID", details: { option: "workers.app" } });
    expect(error.message).toContain("does not export flow other version 2");
    expect(error.message).toContain("echo version 1, ");
    await app.close();

    const late = openApp();
    await late.start();
    expect(() => late.runtime.registerFlow(other.definition, other.runner)).toThrow(
      /workers\.app .* does not export flow other version 2/,
    );
    expect(await errorOf(late.runtime.start(other, 0))).toMatchObject({ code: "FLOW_UNKNOWN" });
    expect(await (await late.runtime.start(flowOf("echo"), 1)).result()).toBe(1);
  });

  it("may be put right: the next start tries again", async () => {
    const dir = temporaryDirectory();
    const module = moduleOf(dir, "export {};");
    const app = openApp({ workers: { app: module } });
    expect(await errorOf(app.start())).toMatchObject({ code: "CONFIG_INVALID" });
    writeFileSync(module, `export * from ${JSON.stringify(FLOWS.href)};`);
    await within(app.start(), "the second opening");
    expect(await (await app.runtime.start(flowOf("echo"), 1)).result()).toBe(1);
  });

  it("an entry that is not there", async () => {
    const entry = pathToFileURL(join(temporaryDirectory(), "nowhere.js"));
    const app = openApp({ workers: { entry } });
    const error = await errorOf(app.start());
    expect(error).toMatchObject({ code: "CONFIG_INVALID", details: { option: "workers.entry" } });
    expect(error.message).toContain("workers.entry cannot be started: Cannot find module");
    expect(threadsAlive()).toEqual([]);
  });
});
