// C-LIF-04: closing at any time, by anyone, resolves; what had not ended goes on at the next opening, and nothing that was
// cut short counts as a failed attempt. (Worker threads, and a step that never yields, come with the pool.)

import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { MemoryEventStore, MemorySnapshotStore } from "../../src/kernel/index.js";
import { between, seededRandom } from "../crash/random.js";
import { diskFull, type Faults, withFaults } from "./faulty-store.js";
import {
  flow,
  latch,
  openApp,
  outcomeOf,
  step,
  temporaryDirectory,
  turns,
  unhandledRejections,
  within,
} from "./world.js";

const one = flow("one", (ctx, input) =>
  ctx.run(
    step("work", (value) => value),
    input,
  ),
);

describe("C-LIF-04: close", () => {
  it("lets steps in flight end, records them, and starts no further ones", async () => {
    const dir = temporaryDirectory();
    const entered = latch();
    const proceed = latch();
    const ran: string[] = [];
    const slow = (id: string) =>
      step(id, async () => {
        ran.push(id);
        entered.open();
        await proceed.opened;
        return id;
      });
    const two = flow("two", async (ctx) => [await ctx.run(slow("a"), 0), await ctx.run(slow("b"), 0)]);
    const app = openApp({ dir, flows: [two] });
    const handle = await app.runtime.start(two, 0, { executionId: "x" });
    const watching = outcomeOf(handle.waitForCompletion());
    await within(entered.opened, "the step begins");
    const closing = app.close({ deadlineMs: 10_000 });
    expect(await outcomeOf(app.runtime.start(two, 0))).toBe("RUNTIME_CLOSED");
    expect(await outcomeOf(app.runtime.resume("x", { eventType: "go" }))).toBe("RUNTIME_CLOSED");
    expect(await outcomeOf(app.runtime.loadState("x"))).toBe("RUNTIME_CLOSED");
    proceed.open();
    await within(closing, "close");
    expect(await within(watching, "the watcher")).toBe("RUNTIME_CLOSED");
    expect(ran).toEqual(["a"]);

    const again = openApp({ dir, flows: [two] });
    expect(await within(again.runtime.handle("x").result(), "result")).toEqual(["a", "b"]);
    expect(ran).toEqual(["a", "b"]);
  });

  it("aborts what does not end by the deadline; that is no failed attempt, and runs again", async () => {
    const dir = temporaryDirectory();
    const entered = latch();
    const attempts: string[] = [];
    let reason: unknown;
    const stuck = step("stuck", (_, ctx) => {
      attempts.push(`${ctx.idempotencyKey} ${ctx.attempt}`);
      if (attempts.length > 1) return "done";
      ctx.signal.addEventListener("abort", () => {
        reason = ctx.signal.reason;
      });
      entered.open();
      return new Promise<string>(() => {});
    });
    // One attempt only: had the close counted as a failure, there would not be another.
    const once = flow("once", (ctx) => ctx.run({ ...stuck, retry: { maxAttempts: 1 } }, 0));
    const app = openApp({ dir, flows: [once] });
    await app.runtime.start(once, 0, { executionId: "x" });
    await within(entered.opened, "the step begins");
    const begun = performance.now();
    await within(app.close({ deadlineMs: 100 }), "close");
    expect(performance.now() - begun).toBeGreaterThan(90);
    expect(reason).toMatchObject({ code: "RUNTIME_CLOSED" });

    const again = openApp({ dir, flows: [once] });
    expect(await within(again.runtime.handle("x").result(), "result")).toBe("done");
    expect(attempts).toEqual(["x/stuck 1", "x/stuck 2"]);
  });

  it("waits as long as it is told, however long that is", async () => {
    const entered = latch();
    const slow = flow("slow", (ctx) =>
      ctx.run(
        step("work", async () => {
          entered.open();
          await delay(50);
          return "whole";
        }),
        0,
      ),
    );
    for (const deadlineMs of [Number.POSITIVE_INFINITY, 2 ** 40]) {
      const dir = temporaryDirectory();
      const app = openApp({ dir, flows: [slow] });
      await app.runtime.start(slow, 0, { executionId: "x" });
      await within(entered.opened, "the step begins");
      await within(app.close({ deadlineMs }), "close");
      const events = await openApp({ dir, autostart: false }).stores.eventStore.read("x");
      expect(events.map(({ type }) => type)).toContain("STEP_COMPLETED");
    }
  });

  it("counts every attempt once, also where a handler's promise is no real one", async () => {
    const dir = temporaryDirectory();
    const entered = latch();
    const twice = step("twice", (): PromiseLike<string> & Promise<string> => {
      const thenable = {
        // oxlint-disable-next-line unicorn/no-thenable -- the very thing under test
        then(resolve: (value: string) => void, reject: (error: unknown) => void) {
          resolve("first");
          resolve("second");
          reject(new Error("third"));
          throw new Error("fourth");
        },
      };
      return thenable as unknown as PromiseLike<string> & Promise<string>;
    });
    const slow = step("slow", async () => {
      entered.open();
      await delay(100);
      return "whole";
    });
    const both = flow("both", (ctx) =>
      ctx.parallel([
        [twice, 0],
        [slow, 0],
      ]),
    );
    const app = openApp({ dir, flows: [both] });
    const handle = await app.runtime.start(both, 0, { executionId: "x" });
    await within(entered.opened, "the slow step begins");
    await within(app.close({ deadlineMs: 60_000 }), "close");
    const last = openApp({ dir, flows: [both], autostart: false });
    const events = await last.stores.eventStore.read(handle.executionId);
    expect(events.filter(({ type }) => type === "STEP_COMPLETED").map(({ payload }) => payload)).toEqual([
      { stepId: "twice", output: "first" },
      { stepId: "slow", output: "whole" },
    ]);
  });

  it("gives up the recovery it is in the middle of", async () => {
    const dir = temporaryDirectory();
    let isStuck = true;
    const work = step("work", () => (isStuck ? new Promise(() => {}) : "done"));
    const many = flow("many", (ctx) => ctx.run(work, 0));
    const count = 5_000;
    const before = openApp({ dir, flows: [many] });
    await Promise.all(
      Array.from({ length: count }, (_, n) => before.runtime.start(many, n, { executionId: `x${n}` })),
    );
    await before.close({ deadlineMs: 0 });
    isStuck = false;
    const app = openApp({ dir, flows: [many] });
    await app.start();
    await within(app.close({ deadlineMs: 60_000 }), "close");
    const last = openApp({ dir, flows: [many], autostart: false });
    const events = await Promise.all(
      Array.from({ length: count }, (_, n) => last.stores.eventStore.read(`x${n}`)),
    );
    expect(
      events.filter((log) => log.length > 2).length,
      "executions taken up before the close",
    ).toBeLessThan(count / 4);
    await last.start();
    for (let n = 0; n < count; n++) await within(last.runtime.handle(`x${n}`).result(), `x${n}`);
  });

  it("resolves for everyone who calls it, however often", async () => {
    const app = openApp({ dir: temporaryDirectory(), flows: [one] });
    await app.runtime.start(one, 1);
    await within(Promise.all([app.close(), app.close({ deadlineMs: 0 }), app.close()]), "three closes");
    await within(app.close(), "a fourth");
    expect(await outcomeOf(app.start())).toBe("RUNTIME_CLOSED");
  });

  it("resolves during start-up and before it, and leaves the directory free", async () => {
    const unhandled = unhandledRejections();
    const dir = temporaryDirectory();
    const opening = openApp({ dir, flows: [one] });
    const early = outcomeOf(opening.runtime.start(one, 1, { executionId: "early" }));
    await within(opening.close(), "close during start-up");
    const unopened = openApp({ dir, flows: [one], autostart: false });
    await within(unopened.close(), "close before start-up");
    const next = openApp({ dir, flows: [one] });
    await within(next.start(), "the next one opens");
    // The early start was answered truly: what was refused is not there.
    expect((await next.runtime.list()).map(({ id }) => id)).toEqual(
      (await early) === "resolved" ? ["early"] : [],
    );
    expect(unhandled).toEqual([]);
  });

  it("resolves inside a step that waits for it", async () => {
    const dir = temporaryDirectory();
    const closed = latch();
    let closes = 0;
    const closer = step("closer", async () => {
      if (closes++ > 0) return "done";
      await app.close({ deadlineMs: 50 });
      closed.open();
      return "lost";
    });
    const closing = flow("closing", (ctx) => ctx.run(closer, 0));
    const app = openApp({ dir, flows: [closing] });
    await app.runtime.start(closing, 0, { executionId: "x" });
    await within(closed.opened, "close from inside a step");
    const again = openApp({ dir, flows: [closing] });
    expect(await within(again.runtime.handle("x").result(), "result")).toBe("done");
  });

  it("resolves inside an observer, a flow and a decider", async () => {
    const closeOnce = (): void => void app.close({ deadlineMs: 0 });
    const inFlow = flow("in flow", async (ctx) => {
      closeOnce();
      return ctx.decide("d", () => app.close({ deadlineMs: 0 }));
    });
    const app = openApp({ flows: [inFlow], observability: { onDurableEvent: closeOnce } });
    await outcomeOf(within(app.runtime.start(inFlow, 0), "start is answered"));
    await within(app.close(), "close");
  });

  it("does not wait for the deadline when commits fail meanwhile", async () => {
    const unhandled = unhandledRejections();
    const faults: Faults = {};
    const entered = latch();
    const proceed = latch();
    const work = step("work", async () => {
      entered.open();
      await proceed.opened;
    });
    const failing = flow("failing", (ctx) => ctx.run(work, 0));
    const app = openApp({
      storage: {
        kind: "custom",
        eventStore: withFaults(new MemoryEventStore({}), faults),
        snapshotStore: new MemorySnapshotStore(),
      },
      flows: [failing],
    });
    await app.runtime.start(failing, 0);
    await within(entered.opened, "the step begins");
    faults.commit = diskFull();
    const closing = app.close({ deadlineMs: 60_000 });
    proceed.open();
    await within(closing, "close", 3_000);
    await turns();
    expect(unhandled).toEqual([]);
  });

  it("refuses, or grants, each start that races with it, and the log agrees", async () => {
    const faults: Faults = { hold: latch() };
    const store = new MemoryEventStore({});
    const app = openApp({
      storage: {
        kind: "custom",
        eventStore: withFaults(store, faults),
        snapshotStore: new MemorySnapshotStore(),
      },
      flows: [one],
    });
    await app.start();
    const starts = Array.from({ length: 20 }, async (_, i) => {
      await turns(i % 4);
      return [`x${i}`, await outcomeOf(app.runtime.start(one, i, { executionId: `x${i}` }))] as const;
    });
    await turns(2);
    const closing = app.close({ deadlineMs: 0 });
    await delay(20);
    const found = async (): Promise<string[]> => (await store.list()).map(({ id }) => id).toSorted();
    let atTheEnd: string[] = [];
    const kept = latch();
    const innerClose = store.close.bind(store);
    store.close = async () => {
      atTheEnd = await found();
      kept.open();
      await innerClose();
    };
    faults.hold?.open();
    await within(closing, "close");
    await kept.opened;
    const outcomes = await within(Promise.all(starts), "all starts are answered");
    expect(new Set(outcomes.map(([, outcome]) => outcome))).toEqual(new Set(["resolved", "RUNTIME_CLOSED"]));
    const granted = outcomes.filter(([, outcome]) => outcome === "resolved").map(([id]) => id);
    expect(granted.toSorted()).toEqual(atTheEnd);
  });
});

const SEED = Date.now() % 1_000_000;
const ROUNDS = 25;

it(`C-LIF-04: ${ROUNDS} closes at random moments under load lose nothing (seed ${SEED})`, async () => {
  const random = seededRandom(SEED);
  const dir = temporaryDirectory();
  const completed = new Set<string>();
  const work = (i: number) =>
    step(`work#${i}`, async (_, { executionId }) => {
      expect(completed.has(executionId), `${executionId} ran after its end`).toBe(false);
      if (i % 2 === 1) await delay(i);
      return i;
    });
  const busy = flow("busy", async (ctx) => {
    const first = await ctx.parallel(
      [0, 1, 2, 3].map((i) => [work(i), 0] as const),
      { limit: 2 },
    );
    await ctx.sleep(2);
    return [...first, await ctx.run(work(4), 0)];
  });
  const granted: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const app = openApp({
      dir,
      flows: [busy],
      observability: {
        onDurableEvent: ({ executionId, type }) =>
          type === "EXECUTION_COMPLETED" && completed.add(executionId),
      },
    });
    const starts = Array.from({ length: 10 }, async (_, i) => {
      await delay(between(random, 0, 10));
      const id = `${round}-${i}`;
      if ((await outcomeOf(app.runtime.start(busy, 0, { executionId: id }))) === "resolved") granted.push(id);
    });
    await delay(between(random, 0, 15));
    await within(app.close({ deadlineMs: between(random, 0, 5) }), `close ${round}`);
    await within(Promise.all(starts), `the starts of round ${round} are answered`);
  }
  const last = openApp({ dir, flows: [busy] });
  for (const id of granted) {
    expect(await within(last.runtime.handle(id).result(), id), id).toEqual([0, 1, 2, 3, 4]);
  }
  const found = (await last.runtime.list({ limit: 1_000 })).map(({ id }) => id).toSorted();
  expect(found).toEqual(granted.toSorted());
});
