// C-LIF-02: an execution that cannot be recovered stands aside with its reason and stops no other.
//
// Goal: every way in which recovery of one execution can fail. Method: 100 executions are left in the middle of a step or
// at a gate; before the directory is opened again, the code of some has changed and the bytes of others are damaged.

import { describe, expect, it } from "vitest";
import type { ExecutionContext, LoomApp, RegisteredFlow } from "../../src/index.js";
import { RawLog } from "./raw-log.js";
import { flow, latch, openApp, outcomeOf, step, temporaryDirectory, turns, within } from "./world.js";

type Body = (ctx: ExecutionContext, input: unknown) => Promise<unknown>;

/** The step all executions are in when their host goes away. */
let holdWork = true;
let entered = 0;
let allEntered = latch();
const work = step("work", (input) => {
  if (!holdWork) return { worked: input };
  if (++entered === EXECUTIONS / 2) allEntered.open();
  return new Promise(() => {});
});
const prepare = step("prepare", (input) => ({ prepared: input }));

const EXECUTIONS = 100;
const original: Body = async (ctx, input) => {
  await ctx.run(prepare, input);
  return ctx.run(work, input);
};
const atGate: Body = async (ctx, input) => {
  await ctx.run(prepare, input);
  return ctx.suspend({ on: "go", timeout: 86_400_000 });
};

interface Harm {
  readonly reason: "FLOW_UNKNOWN" | "REPLAY_DIVERGED" | "RECORD_UNREADABLE";
  /** The flow as it is registered after the restart; its original when absent. */
  readonly now?: (id: string) => readonly RegisteredFlow[];
  /** What happened to the bytes of the log meanwhile. */
  readonly damage?: (log: RawLog, id: string) => Promise<void>;
}

const HARMS: Readonly<Record<string, Harm>> = {
  "its flow is not registered": { reason: "FLOW_UNKNOWN", now: () => [] },
  "its version is not registered": {
    reason: "FLOW_UNKNOWN",
    now: (id) => [flow(id, original, { version: "2" })],
  },
  "a step was renamed": {
    reason: "REPLAY_DIVERGED",
    now: (id) => [
      flow(id, (ctx, input) =>
        ctx.run(
          step("get-ready", () => 1),
          input,
        ),
      ),
    ],
  },
  "a step's input changed": {
    reason: "REPLAY_DIVERGED",
    now: (id) => [flow(id, (ctx) => ctx.run(prepare, "something else"))],
  },
  "it returns where it waited": {
    reason: "REPLAY_DIVERGED",
    now: (id) => [flow(id, async () => "done already")],
  },
  "it throws where it waited": {
    reason: "REPLAY_DIVERGED",
    now: (id) => [
      flow(id, async () => {
        throw new Error("broken deployment");
      }),
    ],
  },
  "a record is noise": {
    reason: "RECORD_UNREADABLE",
    damage: (log, id) => log.changeRecord(id, 2, (bytes) => bytes.fill(0xc1)),
  },
  "a record was cut short": {
    reason: "RECORD_UNREADABLE",
    damage: (log, id) => log.changeRecord(id, 0, (bytes) => bytes.subarray(0, bytes.length / 2)),
  },
  "a record is of a later format": {
    reason: "RECORD_UNREADABLE",
    damage: (log, id) => log.changeRecord(id, 0, (bytes) => bytes.fill(0x63, 1, 2)),
  },
  "its first record is gone": {
    reason: "RECORD_UNREADABLE",
    damage: (log, id) => log.changeRecord(id, 0, () => undefined),
  },
};

const names = Object.keys(HARMS);
const badId = (name: string): string => `bad: ${name}`;
const running = flow("running", original);
const parked = flow("parked", atGate);

/** 45 executions at a gate and 45 in a step that are in order, 5 more of each that will not be. */
async function leaveBehind(dir: string): Promise<void> {
  holdWork = true;
  entered = 0;
  allEntered = latch();
  const app = openApp({ dir, flows: [running, parked] });
  const starts: Promise<unknown>[] = [];
  for (let i = 0; i < 45; i++) {
    starts.push(app.runtime.start(running, i, { executionId: `running ${i}` }));
    starts.push(app.runtime.start(parked, i, { executionId: `parked ${i}` }));
  }
  for (const [i, name] of names.entries()) {
    const bad = flow(badId(name), i % 2 === 0 ? original : atGate);
    app.runtime.registerFlow(bad.definition, bad.runner);
    starts.push(app.runtime.start(bad, i, { executionId: badId(name) }));
  }
  await Promise.all(starts);
  await within(allEntered.opened, "every step has begun");
  const gated = await app.runtime.list({ status: "suspended", limit: EXECUTIONS });
  await Promise.all(gated.map(({ id }) => within(app.runtime.handle(id).waitForSuspend(), id)));
  await app.close({ deadlineMs: 0 });
  const log = new RawLog(dir);
  for (const name of names) await HARMS[name]!.damage?.(log, badId(name));
  await log.close();
  holdWork = false;
}

function flowsNow(): RegisteredFlow[] {
  const changed = names.flatMap((name, i) => {
    const same = [flow(badId(name), i % 2 === 0 ? original : atGate)];
    return HARMS[name]!.now?.(badId(name)) ?? same;
  });
  return [running, parked, ...changed];
}

async function finishTheGood({ runtime }: LoomApp): Promise<void> {
  for (let i = 0; i < 45; i++) {
    const state = await within(runtime.handle(`running ${i}`).waitForCompletion(), `running ${i}`);
    expect(state).toMatchObject({ status: "completed", variables: { _output: { worked: i } } });
    await runtime.resume(`parked ${i}`, { eventType: "go", payload: i });
    expect(await within(runtime.handle(`parked ${i}`).result(), `parked ${i}`)).toBe(i);
  }
}

describe("C-LIF-02: 100 executions, every tenth beyond recovery", () => {
  it("recovers 90, sets 10 aside with their reasons, and says so once each", async () => {
    const dir = temporaryDirectory();
    await leaveBehind(dir);
    const warnings: string[] = [];
    const app = openApp({
      dir,
      flows: flowsNow(),
      observability: { onWarn: (message) => warnings.push(message) },
    });
    await within(app.start(), "the directory opens");
    await finishTheGood(app);
    for (const name of names) {
      // One that is parked at a gate is looked at when somebody needs it, unless it is plain that it cannot go on.
      expect(await outcomeOf(within(app.runtime.resume(badId(name), { eventType: "go" }), name)), name).toBe(
        "EXECUTION_SET_ASIDE",
      );
      expect(await outcomeOf(within(app.runtime.handle(badId(name)).settled(), name)), name).toBe(
        "EXECUTION_SET_ASIDE",
      );
    }
    const aside = await app.runtime.list({ status: "setAside" });
    const reasons = Object.fromEntries(aside.map((header) => [header.id, header.aside?.code]));
    expect(reasons).toEqual(Object.fromEntries(names.map((name) => [badId(name), HARMS[name]!.reason])));
    for (const { id, aside: reason } of aside) {
      expect(
        warnings.filter((message) => message.includes(id)),
        id,
      ).toHaveLength(1);
      expect(warnings.join("\n")).toContain(reason!.message);
    }
  });

  it("finds those that need no reading of their log without being asked", async () => {
    const dir = temporaryDirectory();
    await leaveBehind(dir);
    const { runtime } = openApp({ dir, flows: [running] });
    const parkedAside = async (): Promise<number> => {
      const aside = await runtime.list({ status: "setAside", limit: EXECUTIONS });
      return aside.filter(({ flowId }) => flowId === "parked").length;
    };
    const allFound = async (): Promise<void> => {
      while ((await parkedAside()) < 45) await turns(1);
    };
    await within(allFound(), "every parked execution without its flow stands aside");
  });

  it("picks up an execution once its flow is registered, without a restart", async () => {
    const dir = temporaryDirectory();
    await leaveBehind(dir);
    const app = openApp({ dir, flows: [] });
    const { runtime, stores } = app;
    for (const id of ["running 0", "parked 0"]) {
      expect(await outcomeOf(within(runtime.handle(id).settled(), id))).toBe("EXECUTION_SET_ASIDE");
    }
    const done = latch();
    stores.eventStore.subscribe("running 0", ({ type }) => type === "EXECUTION_COMPLETED" && done.open());
    runtime.registerFlow(running.definition, running.runner);
    await within(done.opened, "the execution of the registered flow completes");
    runtime.registerFlow(parked.definition, parked.runner);
    await within(resumed(app, "parked 0", 7), "the gate of the registered flow opens");
    expect(await within(runtime.handle("parked 0").result(), "parked 0")).toBe(7);
    expect(
      (await runtime.list({ status: "setAside", limit: EXECUTIONS })).map(({ flowId }) => flowId),
    ).not.toContain("running");
  });

  it("leaves the logs as they were: with the old code they all go on", async () => {
    const dir = temporaryDirectory();
    await leaveBehind(dir);
    const intact = names.filter((name) => !HARMS[name]!.damage);
    const changed = openApp({ dir, flows: flowsNow() });
    const logs = async (app: LoomApp) =>
      Promise.all(intact.map((name) => app.stores.eventStore.read(badId(name))));
    const before = await logs(changed);
    for (const name of intact)
      await outcomeOf(within(changed.runtime.resume(badId(name), { eventType: "go" }), name));
    expect(await logs(changed)).toEqual(before);
    await changed.close();

    const old = names.map((name, i) => flow(badId(name), i % 2 === 0 ? original : atGate));
    const restored = openApp({ dir, flows: [running, parked, ...old] });
    for (const name of intact) {
      if (names.indexOf(name) % 2 === 1) await within(resumed(restored, badId(name), 1), name);
      else await within(ended(restored, badId(name)), name);
      expect((await restored.runtime.loadState(badId(name))).status, name).toBe("completed");
    }
  });

  it("ends by force one that stands aside, unless where its log ends cannot be read", async () => {
    const dir = temporaryDirectory();
    await leaveBehind(dir);
    const { runtime, stores } = openApp({ dir, flows: flowsNow() });
    for (const name of names) {
      const unreadable = HARMS[name]!.reason === "RECORD_UNREADABLE";
      expect(
        await outcomeOf(within(runtime.cancel(badId(name), "given up", { force: true }), name)),
        name,
      ).toBe(unreadable ? "EXECUTION_SET_ASIDE" : "resolved");
      if (unreadable) continue;
      const events = await stores.eventStore.read(badId(name));
      expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, i) => i));
      expect(events.at(-1)?.type).toBe("EXECUTION_CANCELLED");
      expect((await runtime.loadState(badId(name))).status).toBe("cancelled");
    }
  });

  it("does without a snapshot that cannot be read", async () => {
    const dir = temporaryDirectory();
    const long = flow("long", async (ctx) => {
      for (let i = 0; i < 20; i++)
        await ctx.run(
          step(`s#${i}`, () => i),
          i,
        );
      return ctx.suspend({ on: "go" });
    });
    const options = { dir, flows: [long], durability: { snapshotEvery: 10 } };
    const before = openApp(options);
    const state = await within(
      (await before.runtime.start(long, 0, { executionId: "x" })).waitForSuspend(),
      "gate",
    );
    await before.close();
    const log = new RawLog(dir);
    await log.changeSnapshot("x", (bytes) => bytes.fill(0xc1));
    await log.close();
    const { runtime } = openApp(options);
    expect(await within(runtime.loadState("x"), "its state")).toEqual(state);
    await runtime.resume("x", { eventType: "go", payload: 5 });
    expect(await within(runtime.handle("x").result(), "result")).toBe(5);
  });

  it("survives a damaged header too", async () => {
    const dir = temporaryDirectory();
    await leaveBehind(dir);
    const log = new RawLog(dir);
    for (const id of ["running 3", "parked 3"]) await log.changeHeader(id, (bytes) => bytes.fill(0xc1));
    await log.close();
    const app = openApp({ dir, flows: flowsNow() });
    await within(app.start(), "the directory opens");
    expect(await within(app.runtime.handle("running 4").result(), "another one")).toEqual({ worked: 4 });
    const fresh = await within(app.runtime.start(running, "new"), "a new start");
    expect(await within(fresh.result(), "a new one")).toEqual({ worked: "new" });
    expect(await outcomeOf(within(app.runtime.loadState("running 3"), "its state"))).toBe(
      "RECORD_UNREADABLE",
    );
    expect(
      await outcomeOf(within(app.runtime.resume("parked 3", { eventType: "go" }), "its resume")),
    ).toMatch(/RECORD_UNREADABLE|EXECUTION_SET_ASIDE/);
    expect((await app.runtime.list({ limit: 500 })).length).toBeGreaterThanOrEqual(99);
  });
});

/** Resumes as soon as the execution is no longer set aside. */
async function resumed({ runtime }: LoomApp, id: string, payload: unknown): Promise<void> {
  while ((await outcomeOf(runtime.resume(id, { eventType: "go", payload }))) === "EXECUTION_SET_ASIDE") {
    await new Promise((resolve) => setImmediate(resolve));
  }
  await runtime.handle(id).waitForCompletion();
}

function ended({ stores }: LoomApp, id: string): Promise<void> {
  const end = latch();
  stores.eventStore.subscribe(id, ({ type }) => type === "EXECUTION_COMPLETED" && end.open(), { from: 0 });
  return end.opened;
}
