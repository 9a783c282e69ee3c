// Bad input: a typed error that names the option as the user wrote it, and nothing half started.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { EffectPool } from "../../../src/workers/pool/index.js";
import { callOf, EFFECTS, ENTRY, openPool } from "./world.js";

const directory = mkdtempSync(join(tmpdir(), "heddle-pool-modules-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function moduleOf(name: string, text: string): URL {
  const path = join(directory, `${name}.mjs`);
  writeFileSync(path, text);
  return pathToFileURL(path);
}

const threadsAlive = (): number =>
  process.getActiveResourcesInfo().filter((name) => /Worker|MessagePort/.test(name)).length;

async function refusalOf(options: object): Promise<unknown> {
  const before = threadsAlive();
  const error = await EffectPool.open({
    module: EFFECTS,
    entry: ENTRY,
    ...options,
  }).then(
    async (pool) => {
      await pool.close();
      expect.unreachable("it opened");
    },
    (thrown: unknown) => thrown,
  );
  expect(threadsAlive()).toBe(before);
  return error;
}

describe("options are refused by name", () => {
  it.each([
    [
      { minThreads: 4, maxThreads: 2 },
      "workers.effects.maxThreads is 2, below workers.effects.minThreads, which is 4.",
    ],
    [{ maxThreads: 0 }, "workers.effects.maxThreads must be a whole number from 1 to 1024, not 0."],
    [{ maxThreads: 1.5 }, "workers.effects.maxThreads must be a whole number from 1 to 1024, not 1.5."],
    [{ maxThreads: "2" }, 'workers.effects.maxThreads must be a whole number from 1 to 1024, not "2".'],
    [{ minThreads: -1 }, "workers.effects.minThreads must be a whole number from 0 to 1024, not -1."],
    [
      { callsPerThread: Number.NaN },
      "workers.effects.callsPerThread must be a whole number from 1 to 4096, not NaN.",
    ],
    [{ maxQueue: -1 }, "workers.effects.maxQueue must be a whole number of at least 0, not -1."],
    [
      { idleTimeoutMs: Infinity },
      "workers.effects.idleTimeoutMs must be a number from 0 to 2147483647, not Infinity.",
    ],
    [{ graceMs: {} }, "workers.effects.graceMs must be a number from 0 to 2147483647, not object."],
    [
      { packet: { maxCalls: 0 } },
      "workers.effects.packet.maxCalls must be a whole number from 1 to 4096, not 0.",
    ],
    [
      { packet: { maxDelay: 1 } },
      "workers.effects.packet.maxDelay is no option here. There are: maxCalls, maxDelayMs.",
    ],
    [{ threads: 2 }, "workers.effects.threads is no option here."],
    [{ resourceLimits: { heap: 1 } }, "workers.effects.resourceLimits.heap is no limit of a worker thread."],
    [
      { resourceLimits: { stackSizeMb: 0 } },
      "workers.effects.resourceLimits.stackSizeMb must be a number of at least 1, not 0.",
    ],
    [{ entry: "./x.js" }, "workers.effects.entry must be a file URL"],
    [
      { module: "./effects.js" },
      'workers.effects.module must be a URL or an absolute path, not "./effects.js"',
    ],
    [{ module: undefined }, "workers.effects.module must be a URL or an absolute path, not undefined"],
  ])("%j", async (options, words) => {
    const error = await refusalOf(options);
    expect(error).toMatchObject({ code: "CONFIG_INVALID" });
    expect((error as Error).message).toContain(words);
  });
});

describe("a module that cannot serve is refused when the pool opens", () => {
  it.each([
    ["is not there", () => new URL("./no-such-module.mjs", EFFECTS), "cannot be loaded: Cannot find module"],
    ["throws", () => moduleOf("throws", 'throw new Error("at load")'), "cannot be loaded: at load"],
    ["is no JavaScript", () => moduleOf("syntax", "export const effects = {"), "cannot be loaded: "],
    ["exports no effects", () => moduleOf("none", "export const effect = {}"), "does not export `effects`"],
    ["exports a list", () => moduleOf("list", "export const effects = []"), "does not export `effects`"],
    [
      "exports what is no effect",
      () => moduleOf("odd", "export const effects = { good: { kind: 'tool', execute() {} }, bad: () => 1 }"),
      "exports effects.bad, which is no effect",
    ],
    [
      "exports an effect that says neither yes nor no",
      () =>
        moduleOf(
          "idempotent",
          "export const effects = { bad: { kind: 'tool', idempotent: 'no', execute() {} } }",
        ),
      'effects.bad: idempotent must be true or false, not "no"',
    ],
    [
      "exports an effect without a usable id",
      () => moduleOf("id", "export const effects = { '': { kind: 'tool', execute() {} } }"),
      "its id must not be empty",
    ],
    ["ends its thread", () => moduleOf("exits", "process.exit(5)"), "was ended by process.exit, with code 5"],
    [
      "throws from a timer while it loads",
      () =>
        moduleOf("timer", "setTimeout(() => { throw new Error('tick') }, 1); await new Promise(() => {})"),
      "ended by an uncaught Error: tick",
    ],
  ])("one that %s", async (_title, module, words) => {
    const error = await refusalOf({ module: module() });
    expect(error).toMatchObject({ code: "CONFIG_INVALID", details: { option: "workers.effects.module" } });
    expect((error as Error).message).toContain("workers.effects.module ");
    expect((error as Error).message).toContain(words);
  });

  it("one whose top-level await never ends: the opening ends, naming the limit", async () => {
    const module = moduleOf("endless", "await new Promise(() => setInterval(() => {}, 1_000))");
    const error = await refusalOf({ module, loadTimeoutMs: 500 });
    expect(error).toMatchObject({ code: "CONFIG_INVALID", details: { option: "workers.effects.module" } });
    expect((error as Error).message).toContain("has not been loaded within 500 ms");
    expect((error as Error).message).toContain("workers.effects.loadTimeoutMs");
  });

  it("an entry that is not there, or is none of ours", async () => {
    for (const [entry, words] of [
      [new URL("./no-such-entry.js", EFFECTS), "is not there. When heddle is bundled"],
      [moduleOf("entry", "export const other = 1"), "is not heddle's effects.worker.cjs"],
      [moduleOf("broken", "throw new Error('at load')"), "at load"],
    ] as const) {
      const error = await refusalOf({ entry });
      expect(error).toMatchObject({ code: "CONFIG_INVALID" });
      expect((error as Error).message).toContain(words);
    }
  });

  it("a module given by its absolute path is as good as one given by URL", async () => {
    const pool = await openPool({ module: new URL(EFFECTS).pathname });
    expect(await pool.call(callOf("echo", 1))).toBe(1);
  });
});

describe("a call", () => {
  it("of an effect that the module does not export is refused with what it does export", async () => {
    const pool = await openPool();
    const error = await pool.call(callOf("nope")).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "EFFECT_UNKNOWN", details: { toolId: "nope" } });
    expect((error as Error).message).toContain("It exports: echo, echoLater");
  });

  it("fails, and does not wait for ever, when threads can no longer begin", async () => {
    const flag = join(directory, "flag");
    writeFileSync(flag, "fine");
    const module = moduleOf(
      "later",
      `import { readFileSync } from "node:fs";
       if (readFileSync(${JSON.stringify(flag)}, "utf8") !== "fine") process.exit(9);
       export const effects = { echo: { kind: "tool", execute: (x) => x }, exit: { kind: "tool", execute: () => process.exit(1) } };`,
    );
    const pool = await openPool({ module });
    writeFileSync(flag, "broken");
    await expect(pool.call(callOf("exit"))).rejects.toMatchObject({ code: "EFFECT_WORKER_LOST" });
    const error = await pool.call(callOf("echo", 1)).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "EFFECT_WORKER_LOST" });
    expect((error as Error).message).toContain("ended before they did any work");
    // And it comes back by itself.
    writeFileSync(flag, "fine");
    expect(await pool.call(callOf("echo", 2))).toBe(2);
  });
});
