// A partition thread that dies is started again, and its executions go on as after the death of a process: what was
// durable stays, what was asked and not answered is told apart from what was not asked.

import { HeddleError } from "heddle";
import { describe, expect, it } from "vitest";
import { errorOf, flowOf, marksIn, openApp, temporaryDirectory, until, within } from "./world.js";

describe("a thread that dies", () => {
  it.each(["exit", "throw", "reject"] as const)(
    "by %s is replaced, and every execution finishes",
    async (how) => {
      const warnings: string[] = [];
      const file = `${temporaryDirectory()}/marks`;
      const app = openApp({ observability: { onWarn: (message) => warnings.push(message) } });
      await app.start();
      const healthy = Array.from({ length: 100 }, (_, i) =>
        startAnyway(app, flowOf("count"), 10, `healthy-${i}`).then((handle) => handle.result()),
      );
      const dying = Array.from({ length: 6 }, (_, i) =>
        startAnyway(app, flowOf("dying"), { how, file }, `dying-${i}`).then((handle) => handle.result()),
      );
      expect(await within(Promise.all(dying), "the ones that take it down")).toEqual(
        dying.map(() => ["before", how]),
      );
      expect(await within(Promise.all(healthy), "the ones beside them")).toEqual(healthy.map(() => 45));
      // An attempt may have been cut short by a neighbour before it could do the same.
      expect(marksIn(file).filter((line) => line === "dies 1").length).toBeGreaterThan(0);
      expect(warnings.join("\n")).toMatch(/The thread of partitions \d, \d ended: .* It is started again/);
      const { actors } = await app.workers.stats();
      expect(actors.reduce((sum, { restarts }) => sum + restarts, 0)).toBeGreaterThan(0);
      expect(actors.every(({ isResponding }) => isResponding)).toBe(true);
    },
  );

  it("for want of memory is replaced too", async () => {
    const file = `${temporaryDirectory()}/marks`;
    const app = openApp({
      observability: { onWarn: () => {} },
      workers: { resourceLimits: { maxOldGenerationSizeMb: 40, maxYoungGenerationSizeMb: 4 } },
    });
    await app.start();
    const healthy = Array.from({ length: 50 }, (_, i) =>
      startAnyway(app, flowOf("count"), 10, `healthy-${i}`).then((handle) => handle.result()),
    );
    const handle = await startAnyway(app, flowOf("dying"), { how: "memory", file }, "dying");
    expect(await within(handle.result(), "result", 30_000)).toEqual(["before", "memory"]);
    expect(await within(Promise.all(healthy), "the ones beside it", 30_000)).toEqual(healthy.map(() => 45));
    expect(marksIn(file)).toEqual(["dies 1", "dies 2"]);
  }, 60_000);

  it("leaves those who asked for a change with a retryable error, and those who wait waiting", async () => {
    const app = openApp({ observability: { onWarn: () => {} }, partitions: 1, workers: { actors: 1 } });
    const gate = await app.runtime.start(flowOf("gated"), "a", { executionId: "gate" });
    await gate.waitForSuspend();
    const waiting = gate.waitForCompletion();
    const result = gate.result();
    // A step that takes its thread down before the loop can turn: whatever is sent right after it is never answered.
    const file = `${temporaryDirectory()}/marks`;
    const handle = await app.runtime.start(flowOf("dying"), { how: "exit", file }, { executionId: "dying" });
    let lost: (Error & { readonly code?: string }) | undefined;
    for (let i = 0; !lost && marksIn(file).length < 2; i++) {
      const started = app.runtime.start(flowOf("echo"), i, { executionId: `echo-${i}` });
      lost = await started.then(
        () => undefined,
        (error: unknown) => error as Error,
      );
    }
    if (lost) {
      expect(lost).toBeInstanceOf(HeddleError);
      expect(lost).toMatchObject({ code: "PARTITION_THREAD_LOST", retryable: true });
      expect(lost.message).toContain("may have become durable");
    }
    expect(await within(handle.result(), "result")).toEqual(["before", "exit"]);
    await app.runtime.resume("gate", { eventType: "Go", payload: { word: "b" } });
    expect(await within(waiting, "the watcher")).toMatchObject({ status: "completed" });
    expect(await within(result, "the one who wants the output")).toBe("a: b");
  });

  it("tells every change it did not answer, and the same id attaches afterwards", async () => {
    const app = openApp({ observability: { onWarn: () => {} }, partitions: 1, workers: { actors: 1 } });
    await app.start();
    const outcomes: string[] = [];
    // One after the other takes the thread down while the starts of the others are on their way.
    const file = `${temporaryDirectory()}/marks`;
    const asked = Array.from({ length: 300 }, async (_, i) => {
      const executionId = `x${i}`;
      const flow = i % 30 === 0 ? flowOf("dying") : flowOf("echo");
      const input = i % 30 === 0 ? { how: "exit", file } : i;
      for (let attempt = 0; ; attempt++) {
        try {
          const handle = await app.runtime.start(flow, input, { executionId });
          outcomes.push("started");
          return await handle.result();
        } catch (error) {
          if ((error as { code?: unknown }).code !== "PARTITION_THREAD_LOST" || attempt > 50) throw error;
          outcomes.push("lost");
        }
      }
    });
    const results = await within(Promise.all(asked), "all of them", 30_000);
    for (const [i, result] of results.entries())
      expect(result).toEqual(i % 30 === 0 ? ["before", "exit"] : i);
    expect(outcomes.filter((outcome) => outcome === "started").length).toBe(300);
    const listed = await app.runtime.list({ limit: 1_000 });
    expect(listed.length).toBe(300);
  }, 60_000);

  it.each(["turn", "handler", "timer", "memory"])(
    "again and again, by what one execution does in its %s: that one is set aside, the others go on (C-LIF-02)",
    async (how) => {
      const warnings: string[] = [];
      const app = openApp({
        observability: { onWarn: (message) => warnings.push(message) },
        partitions: 1,
        workers: {
          actors: 1,
          ...(how === "memory" && {
            resourceLimits: { maxOldGenerationSizeMb: 40, maxYoungGenerationSizeMb: 4 },
          }),
        },
      });
      await app.start();
      const healthy = Array.from({ length: 20 }, (_, i) =>
        startAnyway(app, flowOf("waiting"), { ms: 300, value: i }, `healthy-${i}`),
      );
      const handles = await Promise.all(healthy);
      const lethal = await startAnyway(app, flowOf("lethal"), how, "culprit");
      expect(await within(errorOf(lethal.result()), "it is set aside", 30_000)).toMatchObject({
        code: "EXECUTION_SET_ASIDE",
      });
      const results = handles.map((handle) => handle.result());
      expect(await within(Promise.all(results), "the ones beside it", 30_000)).toEqual(
        handles.map((_, i) => i),
      );
      expect(warnings.join("\n")).toContain(
        "the last two times while execution culprit was running, which is set aside",
      );
      const [header] = (await app.runtime.list()).filter(({ id }) => id === "culprit");
      expect(header).toMatchObject({ status: "setAside", aside: { code: "EXECUTION_QUARANTINED" } });
      // The thread that runs now stays, and the one that was set aside can be put out of the way.
      const { actors } = await app.workers.stats();
      expect(actors).toMatchObject([{ isResponding: true }]);
      expect(actors[0]?.restarts).toBeLessThan(10);
      await app.runtime.cancel("culprit", "it ends threads", { force: true });
      const echo = await app.runtime.start(flowOf("echo"), 1);
      expect(await within(echo.result(), "the thread works")).toBe(1);
      expect((await app.workers.stats()).actors).toMatchObject([{ restarts: actors[0]?.restarts }]);
    },
    60_000,
  );

  it("lets go of its locks: the directory opens at once after the app is closed", async () => {
    const dir = temporaryDirectory();
    const file = `${temporaryDirectory()}/marks`;
    const app = openApp({ dir, observability: { onWarn: () => {} } });
    const handle = await startAnyway(app, flowOf("dying"), { how: "exit", file }, "dying");
    await until(() => marksIn(file).length > 0, "it dies");
    await app.close({ deadlineMs: 0 }); // while it is down, or coming up again
    expect(await errorOf(handle.result())).toMatchObject({ code: "RUNTIME_CLOSED" });
    const again = openApp({ dir, workers: { actors: 0 } });
    expect(await within(again.runtime.handle("dying").result(), "result")).toEqual(["before", "exit"]);
  });
});

/** As a program should: a start that was lost with its thread is made again under the same id. */
async function startAnyway(
  app: ReturnType<typeof openApp>,
  flow: ReturnType<typeof flowOf>,
  input: unknown,
  executionId: string,
) {
  for (;;) {
    try {
      return await app.runtime.start(flow, input, { executionId });
    } catch (error) {
      if ((error as { code?: unknown }).code !== "PARTITION_THREAD_LOST") throw error;
    }
  }
}
