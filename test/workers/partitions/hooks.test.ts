// The host's hooks hear what happens in threads: in the order of each execution, before the answers that depend on it. A
// host that is slow to hear slows the threads down instead of filling up its memory.

import type { EventEnvelope } from "heddle";
import { describe, expect, it } from "vitest";
import { flowOf, openApp, within } from "./world.js";

describe("the hooks", () => {
  it("hear each event twice, appended and durable, in the order of its execution", async () => {
    const appended: EventEnvelope[] = [];
    const durable: EventEnvelope[] = [];
    const app = openApp({
      observability: {
        onEvent: (event) => void appended.push(event),
        onDurableEvent: (event) => void durable.push(event),
      },
    });
    const ids = Array.from({ length: 40 }, (_, i) => `x${i}`);
    await Promise.all(
      ids.map(async (executionId) => {
        const handle = await app.runtime.start(flowOf("count"), 10, { executionId });
        expect(durable.some((event) => event.executionId === executionId)).toBe(true); // H3
        await handle.result();
        expect(durable.filter((event) => event.executionId === executionId).at(-1)?.type).toBe(
          "EXECUTION_COMPLETED",
        );
      }),
    );
    for (const id of ids) {
      const log = await app.stores.eventStore.read(id);
      for (const heard of [appended, durable])
        expect(heard.filter(({ executionId }) => executionId === id)).toEqual(log);
    }
  });

  it("may throw, reject and close the app: it is contained and reported (C-EMB-01)", async () => {
    const warnings: string[] = [];
    let heard = 0;
    const app = openApp({
      observability: {
        onEvent: () => {
          throw new Error("thrown by a hook");
        },
        // An async function fits where a hook returns nothing, and a host's JavaScript has nobody to say that it is wrong.
        // oxlint-disable-next-line typescript/no-misused-promises -- the very thing under test
        onDurableEvent: async () => {
          heard++;
          throw new Error("rejected by a hook");
        },
        onWarn: (message) => {
          warnings.push(message);
          throw new Error("and this one as well");
        },
      },
    });
    const handle = await app.runtime.start(flowOf("echo"), 1);
    expect(await within(handle.result(), "result")).toBe(1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(heard).toBe(4);
    expect(warnings).toContain("observability.onEvent threw: thrown by a hook");
    expect(warnings).toContain("observability.onDurableEvent threw: rejected by a hook");

    let closing: Promise<void> | undefined;
    const closed = openApp({
      observability: {
        onDurableEvent: () => {
          closing ??= closed.close({ deadlineMs: 0 });
        },
      },
    });
    await closed.start();
    await closed.runtime.start(flowOf("echo"), 1).catch(() => {});
    await within(closing!, "a close from inside a hook");
  });

  it("that are slow make the threads wait, however much there is to hear", async () => {
    const [executions, steps, bytes] = [20, 100, 16 * 1024];
    const ids = Array.from({ length: executions }, (_, i) => `x${i}`);
    let heard = 0;
    let ahead: number | undefined;
    const app = openApp({
      observability: {
        onDurableEvent: ({ type }) => {
          if (type !== "STEP_COMPLETED") return;
          heard++;
          if (ahead !== undefined) return;
          // The host hears nothing for so long that the threads could be done with everything twice.
          const until = performance.now() + 3_000;
          while (performance.now() < until);
          const types = ids.flatMap((id) => app.stores.eventStore.readSync!(id).map((event) => event.type));
          ahead = types.filter((each) => each === "STEP_COMPLETED").length - heard;
        },
      },
    });
    await app.start();
    const handles = await Promise.all(
      ids.map((executionId) => app.runtime.start(flowOf("wide"), { steps, bytes }, { executionId })),
    );
    await within(Promise.all(handles.map((handle) => handle.result())), "all of them");
    expect(heard).toBe(executions * steps);
    // A megabyte for each of the two threads, and what the passes that used it up went beyond it.
    expect(ahead).toBeGreaterThan(60);
    expect(ahead).toBeLessThan((executions * steps) / 4);
    // The last acknowledgement is on its way when the last event is heard.
    const waiting = async (): Promise<number> =>
      (await app.workers.stats()).actors.reduce((sum, { hookBytes = 0 }) => sum + hookBytes, 0);
    while ((await waiting()) > 0);
    expect(await waiting()).toBe(0);
  });
});
