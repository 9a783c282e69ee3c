// What the host controls of executions in partition threads: the kill switch, who may do what, cancels with cleanup, deadlines.

import { KillSwitch } from "heddle";
import { describe, expect, it } from "vitest";
import { errorOf, flowOf, marksIn, openApp, temporaryDirectory, until, within } from "./world.js";

const system = { kind: "system" } as const;

describe("the kill switch", () => {
  it("stops effects in every thread once `engage` is done, and lets them go on after `release`", async () => {
    const killSwitch = new KillSwitch();
    const app = openApp({ security: { killSwitch } });
    await app.start();
    const run = (id: string) =>
      app.runtime.start(flowOf("echo"), id, { executionId: id }).then((handle) => handle.waitForCompletion());
    const eight = Array.from({ length: 8 }, (_, i) => i); // in all partitions
    expect((await Promise.all(eight.map((i) => run(`before-${i}`)))).map(({ status }) => status)).toEqual(
      eight.map(() => "completed"),
    );
    await within(killSwitch.engage(system, "drill"), "engaged");
    for (const { status, error } of await Promise.all(eight.map((i) => run(`stopped-${i}`)))) {
      expect(status).toBe("failed");
      expect(error).toMatchObject({
        code: "EFFECT_STOPPED",
        message: expect.stringContaining("drill") as string,
      });
    }
    await within(killSwitch.release(system), "released");
    expect((await Promise.all(eight.map((i) => run(`after-${i}`)))).map(({ status }) => status)).toEqual(
      eight.map(() => "completed"),
    );
  });

  it("engaged before the app opens, it holds for what is recovered too", async () => {
    const dir = temporaryDirectory();
    const file = `${temporaryDirectory()}/marks`;
    const first = openApp({ dir });
    await first.runtime.start(flowOf("marked"), { file, ms: 60_000 }, { executionId: "x" });
    await until(() => marksIn(file).length === 1, "it has begun");
    await first.close({ deadlineMs: 0 });
    const killSwitch = new KillSwitch();
    await killSwitch.engage({ kind: "flow", flowId: "marked" }, "the bill");
    const app = openApp({ dir, security: { killSwitch } });
    await app.start();
    const { error } = await within(app.runtime.handle("x").waitForCompletion(), "the end");
    expect(error).toMatchObject({ code: "EFFECT_STOPPED" });
    expect(marksIn(file)).toHaveLength(1);
  });

  it("holds in a thread that was started again", async () => {
    const killSwitch = new KillSwitch();
    const app = openApp({ security: { killSwitch }, observability: { onWarn: () => {} } });
    await app.start();
    await within(killSwitch.engage({ kind: "flow", flowId: "echo" }, "drill"), "engaged");
    const file = `${temporaryDirectory()}/marks`;
    const dying = await app.runtime.start(flowOf("dying"), { how: "exit", file }, { executionId: "dying" });
    await within(dying.waitForCompletion(), "it took its thread down, and went on");
    const { actors } = await app.workers.stats();
    expect(actors.some(({ restarts }) => restarts > 0)).toBe(true);
    const ended = Array.from({ length: 8 }, async (_, i) => {
      const handle = await app.runtime.start(flowOf("echo"), i, { executionId: `echo-${i}` });
      return handle.waitForCompletion();
    });
    for (const { error } of await within(Promise.all(ended), "the ends"))
      expect(error).toMatchObject({ code: "EFFECT_STOPPED" });
  });
});

describe("who may do what", () => {
  it("is asked in the host, and nothing of what is denied reaches a thread", async () => {
    const app = openApp({
      security: {
        executionAuthorizer: {
          authorize: ({ principal, action, workflowId }) => ({
            allowed: principal === "ann" || (action === "start" && workflowId === "echo"),
          }),
        },
      },
    });
    const { runtime } = app;
    const ann = runtime.as("ann");
    const handle = await ann.start(flowOf("gated"), "a", { executionId: "x" });
    await handle.waitForSuspend();
    const denied = [
      () => runtime.start(flowOf("gated"), "b", { executionId: "y" }),
      () => runtime.cancel("x"),
      () => runtime.resume("x", { eventType: "Go", payload: { word: "no" } }),
      () => runtime.loadState("x"),
      () => runtime.handle("x").result(),
    ];
    for (const call of denied) expect(await errorOf(call())).toMatchObject({ code: "EXECUTION_DENIED" });
    expect(await runtime.list()).toEqual([]);
    expect((await ann.list()).map(({ id }) => id)).toEqual(["x"]);
    await ann.resume("x", { eventType: "Go", payload: { word: "yes" } });
    expect(await within(handle.result(), "result")).toBe("a: yes");
  });
});

describe("cancels and deadlines", () => {
  it("reach the flow in its thread, which cleans up; by force it ends at once", async () => {
    const app = openApp();
    const start = (executionId: string) => app.runtime.start(flowOf("cleaning"), 5, { executionId });
    const [tidy, stuck] = await Promise.all([start("tidy"), start("stuck")]);
    await Promise.all([tidy.waitForSuspend(), stuck.waitForSuspend()]);
    await app.runtime.cancel("tidy", "enough");
    await app.runtime.resume("tidy", { eventType: "Clean" });
    expect(await within(tidy.waitForCompletion(), "tidy")).toMatchObject({
      status: "cancelled",
      reason: "enough",
      frames: { undo: { status: "completed", output: "undone" } },
    });
    await app.runtime.cancel("stuck");
    expect(await stuck.getState()).toMatchObject({ cancelling: { reason: "cancelled by the host" } });
    await app.runtime.cancel("stuck", "now", { force: true });
    expect(await within(stuck.waitForCompletion(), "stuck")).toMatchObject({
      status: "cancelled",
      reason: "now",
    });
  });

  it("a deadline given to start holds in the thread", async () => {
    const app = openApp();
    const handle = await app.runtime.start(flowOf("gated"), "a", { deadlineMs: 20 });
    expect(await within(handle.waitForCompletion(), "the end")).toMatchObject({
      status: "cancelled",
      code: "DEADLINE_EXCEEDED",
    });
  });
});
