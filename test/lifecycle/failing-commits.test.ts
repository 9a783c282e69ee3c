// C-LOG-02 at the runtime: a store that cannot write or read. Everyone who waits is told, nothing refused appears later,
// nothing acknowledged is lost, the host lives, and the runtime goes on by itself once the store works again.

import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { LoomApp, RegisteredFlow } from "../../src/index.js";
import { MemoryEventStore, MemorySnapshotStore } from "../../src/kernel/index.js";
import { diskFull, type Faults, withFaults } from "./faulty-store.js";
import { flow, latch, openApp, outcomeOf, step, turns, unhandledRejections, within } from "./world.js";

interface Suffering {
  readonly app: LoomApp;
  readonly faults: Faults;
  /** What onStorageError and onWarn were told. */
  readonly storageErrors: [id: string, error: unknown][];
  readonly warnings: string[];
  readonly durable: string[];
  /** Resolves at the next warning that the store takes writes again. */
  recovered(): Promise<void>;
}

async function openSuffering(flows: RegisteredFlow[]): Promise<Suffering> {
  const faults: Faults = {};
  const storageErrors: [string, unknown][] = [];
  const warnings: string[] = [];
  const durable: string[] = [];
  let onRecovered = latch();
  const app = openApp({
    storage: {
      kind: "custom",
      eventStore: withFaults(new MemoryEventStore({}), faults),
      snapshotStore: new MemorySnapshotStore(),
    },
    flows,
    observability: {
      onStorageError: (id, error) => storageErrors.push([id, error]),
      onDurableEvent: ({ executionId, type }) => durable.push(`${executionId} ${type}`),
      onWarn: (message) => {
        warnings.push(message);
        if (message.includes("takes writes again")) onRecovered.open();
      },
    },
  });
  await app.start();
  const recovered = async (): Promise<void> => {
    await within(onRecovered.opened, "the store takes writes again");
    onRecovered = latch();
  };
  return { app, faults, storageErrors, warnings, durable, recovered };
}

const timersOfThisProcess = (): number =>
  process.getActiveResourcesInfo().filter((resource) => resource === "Timeout").length;

const one = flow("one", (ctx, input) =>
  ctx.run(
    step("work", () => "done"),
    input,
  ),
);
const gated = flow("gated", (ctx) => ctx.suspend({ on: "go" }));

describe("C-LOG-02: a commit that fails", () => {
  it("tells everyone who waits, leaves no trace, and goes on by itself", async () => {
    const unhandled = unhandledRejections();
    const { app, faults, storageErrors, durable, recovered } = await openSuffering([one, gated]);
    const { runtime, stores } = app;
    for (const id of ["to resume", "to cancel", "watched"]) {
      await within((await runtime.start(gated, 0, { executionId: id })).waitForSuspend(), id);
    }
    durable.length = 0;
    const hold = latch();
    faults.hold = hold;
    const waiting = {
      start: outcomeOf(runtime.start(one, 1, { executionId: "refused" })),
      sameStart: outcomeOf(runtime.start(one, 1, { executionId: "refused" })),
      unnamed: outcomeOf(runtime.start(one, 1)),
      resume: outcomeOf(runtime.resume("to resume", { eventType: "go" })),
      cancel: outcomeOf(runtime.cancel("to cancel")),
      watch: outcomeOf(runtime.handle("watched").waitForCompletion()),
    };
    runtime.start(one, 1).catch(() => {}); // handled by its caller, late and without care
    void runtime.handle("watched").waitForCompletion(); // and one that nobody handles
    await turns();
    const second = outcomeOf(runtime.start(one, 2, { executionId: "refused too" })); // the pass behind it
    await turns();
    faults.commit = diskFull();
    hold.open();
    faults.hold = undefined;
    const told = Object.fromEntries(
      await Promise.all(
        Object.entries({ ...waiting, second }).map(
          async ([who, outcome]) => [who, await within(outcome, who)] as const,
        ),
      ),
    );
    expect(new Set(Object.values(told)), JSON.stringify(told)).toEqual(new Set(["STORAGE_FAILED"]));
    expect(storageErrors).toEqual([["", faults.commit]]);
    const late = [
      runtime.start(one, 3),
      runtime.resume("watched", { eventType: "go" }),
      runtime.cancel("watched"),
    ];
    for (const refused of late as Promise<unknown>[]) {
      expect(await outcomeOf(within(refused, "refused at once", 500))).toBe("STORAGE_FAILED");
    }
    expect(durable).toEqual([]);

    faults.commit = undefined;
    await recovered();
    expect((await runtime.list()).map(({ id, status }) => `${id} ${status}`).sort()).toEqual([
      "to cancel suspended",
      "to resume suspended",
      "watched suspended",
    ]);
    expect(await stores.eventStore.read("refused")).toEqual([]);
    await runtime.resume("to resume", { eventType: "go", payload: "gone" });
    expect(await within(runtime.handle("to resume").result(), "a gate from before")).toBe("gone");
    const fresh = await runtime.start(one, 1, { executionId: "refused" });
    expect(await within(fresh.result(), "the refused one, started again")).toBe("done");
    await turns();
    expect(unhandled).toEqual([]);
  });

  it("runs a step again whose outcome could not be written, with the same key and a higher attempt", async () => {
    const attempts: string[] = [];
    const holdStep = latch();
    const work = step("work", async (_, { idempotencyKey, attempt }) => {
      attempts.push(`${idempotencyKey} ${attempt}`);
      await holdStep.opened;
      return attempt;
    });
    const keyed = flow("keyed", (ctx, input) => ctx.run(work, input));
    const { app, faults, recovered } = await openSuffering([keyed]);
    await app.runtime.start(keyed, 0, { executionId: "k" });
    await turns();
    faults.commit = diskFull();
    holdStep.open();
    await turns();
    faults.commit = undefined;
    await recovered();
    expect(await within(app.runtime.handle("k").result(), "result")).toBe(2);
    expect(attempts).toEqual(["k/work 1", "k/work 2"]);
  });

  it("keeps trying in growing steps while the store stays broken, and costs hardly any time meanwhile", async () => {
    const { app, faults, storageErrors, recovered } = await openSuffering([one]);
    faults.commit = diskFull();
    expect(await outcomeOf(app.runtime.start(one, 1))).toBe("STORAGE_FAILED");
    const before = process.cpuUsage();
    await delay(1_500);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1_000, "milliseconds of CPU in 1,500").toBeLessThan(300);
    expect(storageErrors.length).toBe(1);
    faults.commit = undefined;
    await recovered();
    expect(await within((await app.runtime.start(one, 1)).result(), "result")).toBe("done");
  });

  it("does not stand in the way of closing, nor leave a probe behind", async () => {
    const { app, faults } = await openSuffering([one]);
    faults.commit = diskFull();
    const hold = latch();
    expect(await outcomeOf(app.runtime.start(one, 1))).toBe("STORAGE_FAILED");
    faults.hold = hold;
    await delay(1_200); // the first probe is on its way, and hangs
    const timersBefore = timersOfThisProcess();
    const closing = app.close();
    hold.open();
    await within(closing, "close");
    await turns();
    expect(await outcomeOf(app.runtime.start(one, 1))).toBe("RUNTIME_CLOSED");
    expect(timersOfThisProcess()).toBeLessThanOrEqual(timersBefore);
  });
});

describe("C-LOG-02: a read that fails", () => {
  it("tells everyone who waits, and whoever was told yes keeps it", async () => {
    const unhandled = unhandledRejections();
    const { app, faults, storageErrors, recovered } = await openSuffering([one, gated]);
    const { runtime } = app;
    await within((await runtime.start(gated, 0, { executionId: "g" })).waitForSuspend(), "gate");
    const hold = latch();
    faults.hold = hold;
    const written = outcomeOf(runtime.start(one, 1, { executionId: "written" }));
    await turns();
    faults.read = diskFull();
    const unread = [
      runtime.start(one, 1, { executionId: "unread" }),
      runtime.start(one, 1, { executionId: "unread" }),
      runtime.start(one, 1),
      runtime.resume("never seen", { eventType: "go" }),
      runtime.cancel("never seen either"),
      runtime.handle("unknown").waitForCompletion(),
    ].map(outcomeOf);
    const outcomes = await within(Promise.all(unread), "everyone is told");
    expect(new Set(outcomes)).toEqual(new Set(["STORAGE_FAILED"]));
    expect(storageErrors).toEqual([["", faults.read]]);
    // This one's commit was under way when reading failed: it gets through, so its caller must not be told otherwise.
    hold.open();
    expect(await within(written, "the start under way")).toBe("resolved");

    faults.read = undefined;
    faults.hold = undefined;
    await recovered();
    expect((await runtime.list()).map(({ id }) => id).sort()).toEqual(["g", "written"]);
    expect(await within(runtime.handle("written").result(), "written")).toBe("done");
    await turns();
    expect(unhandled).toEqual([]);
  });

  it("is no unhandled rejection when it meets the recovery itself", async () => {
    const unhandled = unhandledRejections();
    const { app, faults, recovered, storageErrors } = await openSuffering([one]);
    faults.commit = diskFull();
    expect(await outcomeOf(app.runtime.start(one, 1))).toBe("STORAGE_FAILED");
    faults.read = diskFull();
    faults.commit = undefined;
    await recovered(); // takes writes again, but recovery cannot read
    await turns();
    expect(await outcomeOf(app.runtime.start(one, 1))).toBe("STORAGE_FAILED");
    expect(storageErrors.at(-1)).toEqual(["", faults.read]);
    faults.read = undefined;
    await recovered();
    expect(await within((await app.runtime.start(one, 1)).result(), "result")).toBe("done");
    expect(unhandled).toEqual([]);
  });
});

it("C-LOG-02: a snapshot that cannot be saved is reported and costs nothing but time", async () => {
  const unhandled = unhandledRejections();
  const failures: string[] = [];
  const lost = diskFull();
  const app = openApp({
    storage: {
      kind: "custom",
      eventStore: new MemoryEventStore({}),
      snapshotStore: {
        save: () => Promise.reject(lost),
        load: async () => undefined,
        delete: async () => {},
      },
    },
    flows: [one],
    durability: { snapshotEvery: 2 },
    observability: { onStorageError: (id, error) => failures.push(`${id} ${String(error === lost)}`) },
  });
  const handle = await app.runtime.start(one, 1, { executionId: "s" });
  expect(await within(handle.result(), "result")).toBe("done");
  await turns();
  expect(failures.length).toBeGreaterThan(0);
  expect(new Set(failures)).toEqual(new Set(["s true"]));
  expect(unhandled).toEqual([]);
});
