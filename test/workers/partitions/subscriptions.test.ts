// Subscribers in the host see the events of executions in threads: each once, in order, from where they asked.

import type { EventEnvelope } from "heddle";
import { describe, expect, it } from "vitest";
import { flowOf, openApp, temporaryDirectory, until, within } from "./world.js";

const ENDED = new Set(["EXECUTION_COMPLETED", "EXECUTION_CANCELLED", "EXECUTION_FAILED"]);

/** Subscribes, and resolves with everything seen once the execution has ended. */
function follow(
  app: ReturnType<typeof openApp>,
  id: string,
  from?: number,
): { readonly seen: EventEnvelope[]; readonly ended: Promise<EventEnvelope[]> } {
  const seen: EventEnvelope[] = [];
  const ended = new Promise<EventEnvelope[]>((resolve) => {
    app.stores.eventStore.subscribe(
      id,
      (event) => {
        seen.push(event);
        if (ENDED.has(event.type)) resolve(seen);
      },
      from === undefined ? undefined : { from },
    );
  });
  return { seen, ended };
}

const upTo = (last: number, from = 0): number[] =>
  Array.from({ length: last - from + 1 }, (_, i) => from + i);

describe("a subscription", () => {
  it("sees every event once and in order, while others write", async () => {
    const app = openApp();
    const ids = Array.from({ length: 30 }, (_, i) => `x${i}`);
    const follows = ids.map((id) => follow(app, id, 0)); // before the threads are open
    await Promise.all(ids.map((executionId) => app.runtime.start(flowOf("count"), 20, { executionId })));
    for (const [i, { ended }] of follows.entries()) {
      const seen = await within(ended, `the end of ${ids[i]}`);
      expect(seen.map(({ sequence }) => sequence)).toEqual(upTo(41));
      expect(seen).toEqual(await app.stores.eventStore.read(ids[i]!));
    }
  });

  it("begins where it is asked to, or with what comes next", async () => {
    const app = openApp();
    const handle = await app.runtime.start(flowOf("twoGates"), 0, { executionId: "one" });
    await handle.waitForSuspend();
    const next = follow(app, "one");
    const second = follow(app, "one", 1);
    await app.runtime.resume("one", { eventType: "First" });
    await app.runtime.resume("one", { eventType: "Second" });
    const all = await app.stores.eventStore.read("one");
    await handle.waitForCompletion();
    const length = (await app.stores.eventStore.read("one")).length;
    expect(all.length).toBeGreaterThan(2);
    expect((await within(next.ended, "what comes next")).map(({ sequence }) => sequence)).toEqual(
      upTo(length - 1, 2),
    );
    expect((await within(second.ended, "from the second on")).map(({ sequence }) => sequence)).toEqual(
      upTo(length - 1, 1),
    );
  });

  it("ends when its owner ends it, and a listener that throws harms nobody", async () => {
    const warnings: string[] = [];
    const app = openApp({ observability: { onWarn: (message) => warnings.push(message) } });
    const handle = await app.runtime.start(flowOf("twoGates"), 0, { executionId: "one" });
    const throwing = app.stores.eventStore.subscribe("one", () => {
      throw new Error("a listener's own trouble");
    });
    const seen: number[] = [];
    const end = app.stores.eventStore.subscribe("one", ({ sequence }) => void seen.push(sequence), {
      from: 0,
    });
    await handle.waitForSuspend();
    await until(() => seen.length === 2, "the first two events");
    end();
    await app.runtime.resume("one", { eventType: "First" });
    const rest = follow(app, "one", 0);
    await app.runtime.resume("one", { eventType: "Second" });
    await within(rest.ended, "the end");
    throwing();
    expect(seen).toEqual([0, 1]);
    expect(warnings.some((message) => message.includes("a listener's own trouble"))).toBe(true);
  });

  it("goes on when the thread of its execution is another one", async () => {
    const app = openApp({ observability: { onWarn: () => {} } });
    const file = `${temporaryDirectory()}/marks`;
    const followed = follow(app, "one", 0);
    const handle = await app.runtime.start(flowOf("dying"), { how: "exit", file }, { executionId: "one" });
    expect(await within(handle.result(), "result")).toEqual(["before", "exit"]);
    const seen = await within(followed.ended, "the end");
    expect(seen).toEqual(await app.stores.eventStore.read("one"));
    const { actors } = await app.workers.stats();
    expect(actors.reduce((sum, { restarts }) => sum + restarts, 0)).toBe(1);
  });
});
