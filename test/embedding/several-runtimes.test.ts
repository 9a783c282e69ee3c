// C-EMB-02: several runtimes in one process, reopening, worker threads, and a package that is loaded twice.

import { cpSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { type Child, type ChildOptions, startChild } from "../crash/child.js";
import { flow, openApp, step, temporaryDirectory, within } from "../lifecycle/world.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const counted = flow("counted", (ctx, input) =>
  ctx.run(
    step("work", (n) => n),
    input,
  ),
);

async function run(name: string, options: ChildOptions): Promise<Child> {
  const child = startChild(new URL(`./programs/${name}`, import.meta.url), options);
  expect(await endOf(child)).toEqual({ code: 0, signal: null, stderr: "" });
  return child;
}

function endOf(child: Child) {
  return within(child.ended, "the program ends by itself", 25_000);
}

/**
 * About one termination in a thousand meets lmdb-js between two instructions of a native call that cannot be refused any
 * more, and the process aborts (docs/workers.md). That is one more death to go on after.
 */
function isAbortInNativeCall({ signal, stderr }: Awaited<Child["ended"]>): boolean {
  return signal === "SIGABRT" && stderr.includes("ThrowAsJavaScriptException napi_throw");
}

describe("C-EMB-02: in one process", () => {
  it("two runtimes on two directories know nothing of each other", async () => {
    const dirs = [temporaryDirectory(), temporaryDirectory()] as const;
    const answers = ["left", "right"] as const;
    const apps = answers.map((answer, i) =>
      openApp({ dir: dirs[i as 0 | 1], flows: [flow("same", async () => answer)], surfaces: [answer] }),
    );
    const same = flow("same", async () => "");
    for (const [i, app] of apps.entries()) {
      app.runtime.registerFlow(flow(`only ${i}`, async () => i).definition, async () => i);
    }
    const [left, right] = apps as [(typeof apps)[0], (typeof apps)[0]];
    const handles = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        (i % 2 === 0 ? left : right).runtime.start(same, i, { executionId: `id ${i >> 1}` }),
      ),
    );
    const results = await Promise.all(handles.map((handle) => within(handle.result(), handle.executionId)));
    expect(results).toEqual(Array.from({ length: 50 }, (_, i) => answers[i % 2]));
    await left.close();
    expect(await within((await right.runtime.start(same, 0)).result(), "the other goes on")).toBe("right");
    expect((await right.runtime.list({ limit: 100 })).length).toBe(26);
    await expect(
      right.runtime.start(
        flow("only 0", async () => 0),
        0,
      ),
    ).rejects.toMatchObject({ code: "FLOW_UNKNOWN" });
    await expect(
      right.runtime.start(
        flow("only 1", async () => 1),
        0,
      ),
    ).resolves.toBeDefined();
  });

  it("one directory closes and opens again a hundred times, and counts on", async () => {
    const dir = temporaryDirectory();
    const parked = flow("parked", (ctx) => ctx.suspend<number>({ on: "go" }));
    for (let round = 0; round < 100; round++) {
      const app = openApp({ dir, flows: [counted, parked] });
      const { runtime } = app;
      if (round > 0) {
        await runtime.resume(`parked ${round - 1}`, { eventType: "go", payload: round });
        expect(await within(runtime.handle(`parked ${round - 1}`).result(), `parked ${round - 1}`)).toBe(
          round,
        );
      }
      await within(
        (await runtime.start(parked, 0, { executionId: `parked ${round}` })).waitForSuspend(),
        "gate",
      );
      const handle = await runtime.start(counted, round, { executionId: `counted ${round}` });
      expect(await within(handle.result(), `counted ${round}`)).toBe(round);
      await within(app.close(), `close ${round}`);
    }
    const last = openApp({ dir, flows: [counted, parked] });
    const all = await last.runtime.list({ limit: 1_000 });
    expect(all.map(({ key }) => key).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 200 }, (_, i) => i),
    );
    expect(all.filter(({ status }) => status === "completed")).toHaveLength(199);
  });

  it("an app on many partitions closes and opens again", async () => {
    const dir = temporaryDirectory();
    for (let round = 0; round < 5; round++) {
      const { lmdbStorage } = await import("../../src/index.js");
      const app = openApp({ storage: lmdbStorage({ dir, partitions: 4, sync: "commit" }), flows: [counted] });
      const handles = await Promise.all(
        Array.from({ length: 40 }, (_, i) => app.runtime.start(counted, i, { executionId: `${round}-${i}` })),
      );
      expect(await Promise.all(handles.map((handle) => within(handle.result(), "result")))).toEqual(
        Array.from({ length: 40 }, (_, i) => i),
      );
      expect((await app.runtime.list({ limit: 1_000 })).length).toBe(40 * (round + 1));
      await app.close();
    }
  });
});

describe("C-EMB-02: in another setting", () => {
  it("a worker thread hosts it, is terminated half-way over and over, and nothing is lost", {
    timeout: 80_000,
  }, async () => {
    const args = [temporaryDirectory()];
    const first = startChild(new URL("./programs/worker-host.mjs", import.meta.url), { args });
    const end = await endOf(first);
    const isOver = !isAbortInNativeCall(end);
    if (isOver) expect(end).toEqual({ code: 0, signal: null, stderr: "" });
    const { lines } = isOver ? first : await run("worker-host.mjs", { args });
    const results = JSON.parse(lines[0]!) as unknown[];
    expect(results.filter((result) => result === 45).length).toBeGreaterThanOrEqual(2);
    expect(new Set(results.slice(-2))).toEqual(new Set([45, "refused PARTITION_LOCKED"]));
  });

  it("a second copy of the package is a second opener: refused while the first one is open", async () => {
    const copies = temporaryDirectory();
    cpSync(join(root, "dist"), join(copies, "dist"), { recursive: true });
    cpSync(join(root, "package.json"), join(copies, "package.json"));
    symlinkSync(join(root, "node_modules"), join(copies, "node_modules"));
    const { lines } = await run("two-copies.mjs", {
      args: [temporaryDirectory(), pathToFileURL(join(copies, "dist", "index.js")).href],
    });
    expect(JSON.parse(lines[0]!)).toEqual({
      same: false,
      second: "PARTITION_LOCKED",
      owner: true,
      result: 7,
      read: true,
    });
  });

  it("CommonJS and ESM share one instance", async () => {
    const { lines } = await run("common.mjs", {
      args: [temporaryDirectory()],
      nodeArgs: ["--disable-warning=ExperimentalWarning"],
    });
    expect(JSON.parse(lines[0]!)).toEqual({ same: true, result: 2, shown: { n: 1 } });
  });

  it("a TypeScript host runs through a loader", async () => {
    const { lines } = await run("typescript-host.ts", {
      args: [temporaryDirectory()],
      nodeArgs: ["--import", "tsx"],
    });
    expect(JSON.parse(lines[0]!)).toEqual({ result: 42, shown: { doubled: 42 } });
  });
});
