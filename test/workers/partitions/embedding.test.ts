// C-EMB-01 and C-EMB-02 in threads: the host's process stays the host's, and apps come and go in it.

import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { startChild } from "../../crash/child.js";
import { flowOf, openApp, temporaryDirectory, within } from "./world.js";

const program = (name: string): URL => new URL(`./programs/${name}`, import.meta.url);

describe("C-EMB-01: the process of a host with partition threads", () => {
  it("keeps its listeners, globals and output, and ends by itself after close", async () => {
    const child = startChild(program("traces.mjs"), { args: [temporaryDirectory()] });
    const { code, stderr } = await within(child.ended, "the process ends by itself", 20_000);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    // lmdb-js is loaded by the first read in the host.
    const lmdb = ["__lmdb_read_callback", "__lmdb_envs__"];
    expect(JSON.parse(child.lines[0]!)).toEqual({
      imported: [],
      opened: [],
      used: lmdb,
      closed: lmdb,
      resources: [],
      written: 0,
    });
  });

  it.each([
    ["flush", "durable", 2_000, 50],
    ["flush", "answered", 700, 50],
    ["flush", "subscriber", 3, 50],
    ["commit", "answered", 5_000, 50],
    // Passes of thousands of operations: the threads are in the middle of one most of the time.
    ["commit", "answered", 8_000, 3_000],
    ["commit", "answered", 12_000, 3_000],
    ["flush", "answered", 10_000, 3_000],
  ])(
    "sync %s: ends within a second of process.exit(3) (%s, %i times, %i executions at a time)",
    async (sync, where, count, lanes) => {
      const child = startChild(program("exit-under-load.mjs"), {
        args: [temporaryDirectory(), sync, where, String(count), String(lanes)],
      });
      const { code, signal, stderr } = await within(child.ended, "the process ends", 20_000);
      const ended = Date.now();
      expect({ code, signal, stderr }).toEqual({ code: 3, signal: null, stderr: "" });
      const exit = child.lines.find((line) => line.startsWith("exit "));
      expect(ended - Number(exit?.slice("exit ".length)), "milliseconds").toBeLessThan(1_000);
      expect(child.lines.at(-1)).toBe("exiting with 3");
    },
  );

  it.skipIf(process.platform !== "linux")("hears of a full disk as an instance of the error", async () => {
    const child = startChild(program("disk-full.mjs"), {
      args: [temporaryDirectory()],
      before: "ulimit -S -f 8192", // four megabytes
    });
    const { code, stderr } = await within(child.ended, "the process ends by itself", 20_000);
    const report: unknown = JSON.parse(child.lines.at(-1) ?? "null");
    expect({ code, report }, stderr).toEqual({
      code: 0,
      report: { heard: ["", "STORAGE_FAILED", true], refused: ["STORAGE_FAILED", true, true] },
    });
  });
});

describe("C-EMB-02: reopening, and several apps", () => {
  // Long form: HEDDLE_OPENINGS=100 npx vitest run test/workers/partitions/embedding.test.ts
  const OPENINGS = Number(process.env["HEDDLE_OPENINGS"] ?? 25);
  it(
    `works ${OPENINGS} times on one directory, and leaves nothing open`,
    async () => {
      const dir = temporaryDirectory();
      const openFiles = (): number => readdirSync("/proc/self/fd").length;
      let before = 0;
      for (let i = 0; i < OPENINGS; i++) {
        const app = openApp({ dir, partitions: 1, workers: { actors: 1 } });
        const handle = await app.runtime.start(flowOf("echo"), i, { executionId: `x${i}` });
        expect(await handle.result()).toBe(i);
        if (i > 0) expect((await app.stores.eventStore.read(`x${i - 1}`)).length).toBe(4);
        await app.close();
        if (i === 10 && process.platform === "linux") before = openFiles();
      }
      if (process.platform === "linux") expect(openFiles()).toBeLessThanOrEqual(before + 5);
      expect(process.getActiveResourcesInfo().filter((name) => /Worker|MessagePort/.test(name))).toEqual([]);
    },
    30_000 + OPENINGS * 2_000,
  );

  it("keeps two apps on two directories apart", async () => {
    const [one, two] = [openApp(), openApp()];
    const ids = Array.from({ length: 20 }, (_, i) => `x${i}`);
    const handles = [one, two].flatMap((app, n) =>
      ids.map((executionId) => app.runtime.start(flowOf("gated"), n, { executionId })),
    );
    await Promise.all(handles);
    await Promise.all(ids.map((id) => one.runtime.resume(id, { eventType: "Go", payload: { word: "go" } })));
    expect(await Promise.all(ids.map((id) => one.runtime.handle(id).result()))).toEqual(
      ids.map(() => "0: go"),
    );
    const listed = await two.runtime.list({ status: "completed" });
    expect(listed).toEqual([]);
    await one.close();
    await two.runtime.resume("x0", { eventType: "Go", payload: { word: "on" } });
    expect(await two.runtime.handle("x0").result()).toBe("1: on");
  });

  it("a TypeScript host runs TypeScript flows in threads", async () => {
    const child = startChild(program("typescript-host.ts"), {
      args: [temporaryDirectory()],
      nodeArgs: ["--import", "tsx"],
      // Of this project's own tsconfig, which would have the loader take the sources for the package.
      env: { TSX_TSCONFIG_PATH: fileURLToPath(new URL("../../../tsconfig.examples.json", import.meta.url)) },
    });
    const { code, stderr } = await within(child.ended, "the process ends by itself", 20_000);
    expect({ code, stderr, lines: child.lines }).toEqual({
      code: 0,
      stderr: "",
      lines: [JSON.stringify({ result: 42 })],
    });
  });
});
