// C-LIF-04 in threads: closing at any time, by anyone, resolves; what had not ended goes on at the next opening, and nothing
// that was cut short counts as a failed attempt.

import { existsSync, rmSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { between, seededRandom } from "../../crash/random.js";
import { errorOf, flowOf, marksIn, openApp, temporaryDirectory, until, within } from "./world.js";

/** What keeps a process alive of threads and their ports. */
const threadsAlive = (): string[] =>
  process.getActiveResourcesInfo().filter((resource) => /Worker|MessagePort/.test(resource));

describe("C-LIF-04: close", () => {
  it("lets steps in flight end, records them, and leaves no thread", async () => {
    const dir = temporaryDirectory();
    const before = threadsAlive();
    const app = openApp({ dir });
    const handle = await app.runtime.start(
      flowOf("waiting"),
      { ms: 150, value: "whole" },
      { executionId: "x" },
    );
    const gate = await app.runtime.start(flowOf("gated"), 0);
    const watching = errorOf(gate.waitForCompletion());
    await app.close({ deadlineMs: 10_000 });
    expect(threadsAlive()).toEqual(before);
    expect(await watching).toMatchObject({ code: "RUNTIME_CLOSED" });
    for (const refused of [
      app.runtime.start(flowOf("echo"), 0),
      app.runtime.resume("x", { eventType: "Go" }),
      app.runtime.cancel("x"),
      app.runtime.loadState("x"),
      handle.result(),
      app.start(),
    ])
      expect(await errorOf(refused)).toMatchObject({ code: "RUNTIME_CLOSED" });
    const again = openApp({ dir, autostart: false });
    const types = (await again.stores.eventStore.read("x")).map(({ type }) => type);
    expect(types).toContain("STEP_COMPLETED");
  });

  it.each([
    ["obeys its signal", "abort"],
    ["is deaf", "deaf"],
    ["never yields", "loop"],
  ])("does not wait longer than it was told for a step that %s", async (_name, how) => {
    const dir = temporaryDirectory();
    const file = `${temporaryDirectory()}/marks`;
    const app = openApp({ dir });
    await app.start();
    const started = app.runtime.start(flowOf("stuck"), { how, file }, { executionId: "x" });
    started.catch(() => {}); // the thread of one that never yields does not even answer this
    await until(() => marksIn(file).length > 0, "the step runs");
    const begun = performance.now();
    await within(app.close({ deadlineMs: 100 }), "close", 4_000);
    expect(performance.now() - begun).toBeGreaterThan(90);
    expect(threadsAlive()).toEqual([]);
    if (how === "abort") expect(marksIn(file)).toContain("aborted RUNTIME_CLOSED");
    const again = openApp({ dir });
    expect(await within(again.runtime.handle("x").result(), "result")).toBe("freed");
    const events = await again.stores.eventStore.read("x");
    expect(events.filter(({ type }) => type === "STEP_FAILED")).toEqual([]);
    expect(events.find(({ type }) => type === "STEP_RETRIED")?.payload).toMatchObject({
      reason: "recovered",
      attempt: 2,
    });
  });

  it("resolves for everyone who calls it, however often", async () => {
    const app = openApp();
    await app.runtime.start(flowOf("echo"), 1);
    await within(Promise.all([app.close(), app.close({ deadlineMs: 0 }), app.close()]), "three closes");
    await within(app.close(), "a fourth");
  });

  it("resolves before the app is opened, and at any moment while it opens", async () => {
    const dir = temporaryDirectory();
    await within(openApp({ dir, autostart: false }).close(), "before it was opened");
    for (const afterMs of [0, 1, 20, 60, 120, 200]) {
      const app = openApp({ dir });
      const opening = app.start().catch((error: unknown) => error);
      const early = app.runtime.start(flowOf("echo"), 1, { executionId: `early-${afterMs}` });
      const outcome = early.then(
        () => "started",
        (error: unknown) => (error as { code: string }).code,
      );
      await new Promise((resolve) => setTimeout(resolve, afterMs));
      await within(app.close({ deadlineMs: 1_000 }), `close after ${afterMs} ms`);
      await within(opening, "the opening settles");
      expect(["started", "RUNTIME_CLOSED", "PARTITION_THREAD_LOST"]).toContain(
        await within(outcome, "the start"),
      );
    }
    expect(threadsAlive()).toEqual([]);
    const last = openApp({ dir, workers: { actors: 0 } });
    await within(last.start(), "the directory is free");
  });

  it("resolves while the module is loading for ever", async () => {
    const dir = temporaryDirectory();
    const mark = `${dir}/mark`;
    const begin = `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(mark)}, "loading");`;
    for (const text of ["await new Promise(() => setInterval(() => {}, 1_000));", "for (;;);"]) {
      const module = `${dir}/hangs.mjs`;
      writeFileSync(module, begin + text);
      rmSync(mark, { force: true });
      const app = openApp({ dir: `${dir}/log`, workers: { app: pathToFileURL(module) } });
      const opening = errorOf(app.start());
      await until(() => existsSync(mark), `it loads ${text}`);
      await within(app.close({ deadlineMs: 50 }), `close while loading ${text}`, 4_000);
      expect(await opening).toMatchObject({ code: "RUNTIME_CLOSED" });
    }
    expect(threadsAlive()).toEqual([]);
  });

  it("at random moments under load loses nothing and repeats nothing", async () => {
    const seed = Number(process.env["SEED"] ?? 7);
    const random = seededRandom(seed);
    const dir = temporaryDirectory();
    const acknowledged = new Set<string>();
    for (let round = 0; round < 8; round++) {
      const app = openApp({ dir });
      await app.start();
      const starts = Array.from({ length: 60 }, async (_, i) => {
        const executionId = `${round}-${i}`;
        const handle = await app.runtime.start(flowOf("count"), 5, { executionId });
        acknowledged.add(executionId);
        await handle.result();
      });
      const settled = Promise.allSettled(starts);
      await new Promise((resolve) => setTimeout(resolve, between(random, 0, 40)));
      await within(
        app.close({ deadlineMs: between(random, 0, 30) }),
        `close in round ${round}, seed ${seed}`,
      );
      await within(settled, "every caller hears");
    }
    const app = openApp({ dir });
    await app.start();
    for (const id of acknowledged) {
      expect(await within(app.runtime.handle(id).result(), `${id}, seed ${seed}`)).toBe(10);
      const events = await app.stores.eventStore.read(id);
      expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, i) => i));
      expect(events.filter(({ type }) => type === "STEP_COMPLETED").length).toBe(5);
      expect(events.filter(({ type }) => type === "STEP_FAILED")).toEqual([]);
    }
    expect(acknowledged.size).toBeGreaterThan(50);
  }, 60_000);
});
