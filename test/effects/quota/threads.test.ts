// Goal: with partition threads a budget holds for all of them together, exactly, and over the death of any.
// Method: the built package, two threads over four partitions, and calls that leave a line in a file.

import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { marksIn, temporaryDirectory, until, within } from "../../workers/partitions/world.js";
import { atOnce, inTurn, openApp } from "./app.js";

const acme = { actor: "ann", tenant: "acme" };

/** Enough of them to be in every partition. */
const ids = Array.from({ length: 20 }, (_, i) => `x${i}`);

describe("a tenant's budget over two threads", () => {
  test.each([
    ["at once", atOnce],
    ["in turn", inTurn],
  ])("lets through ten of a thousand calls made %s", async (_how, flow) => {
    const file = join(temporaryDirectory(), "calls");
    const app = openApp("partition threads", [{ scope: "tenant", meter: "calls", limit: 10 }]);
    const inputs = Array.from({ length: 50 }, () => ({ file, ms: 1, reports: [{ tokens: 1 }] }));
    const ends = ids.map(async (executionId) => {
      const handle = await app.runtime.start(flow, { inputs }, { executionId, principal: acme });
      return handle.result();
    });
    const came = (await within(Promise.all(ends), "the ends")).flat();
    expect(came.filter((each) => each === "used")).toHaveLength(10);
    expect(marksIn(file)).toHaveLength(10);
    const { ledger } = app.envelope!;
    expect(ledger.used({ scope: "tenant", of: "acme", meter: "calls" })).toBe(10);
    expect(ledger.used({ scope: "tenant", of: "acme", meter: "tokens" })).toBe(10);
    expect(ledger.list()).toMatchObject([{ of: "acme", used: 10 }]);
  });

  test("is what it was after a restart, whichever thread has a partition then", async () => {
    const dir = temporaryDirectory();
    const budgets = [{ scope: "tenant", meter: "tokens", limit: 100 }] as const;
    const use = { reports: [{ tokens: 10 }] };
    const first = openApp("partition threads", budgets, dir);
    for (const executionId of ids.slice(0, 9))
      await (await first.runtime.start(inTurn, { inputs: [use] }, { executionId, principal: acme })).result();
    await first.close();
    const second = openApp("inline", budgets, dir);
    await (
      await second.runtime.start(inTurn, { inputs: [use] }, { executionId: "one more", principal: acme })
    ).result();
    await second.close();
    const third = openApp("partition threads", budgets, dir);
    const handle = await third.runtime.start(inTurn, { inputs: [use] }, { principal: acme });
    expect(await within(handle.result(), "the end")).toEqual(["QUOTA_EXCEEDED"]);
    expect(third.envelope!.ledger.used({ scope: "tenant", of: "acme", meter: "tokens" })).toBe(100);
  });

  test("outlives a thread: what it had made durable, and what it had under way as calls", async () => {
    const app = openApp("partition threads", [{ scope: "tenant", meter: "calls", limit: 100 }]);
    const use = { reports: [{ tokens: 1 }] };
    const principal = acme;
    const handles = await Promise.all(
      ids.map((executionId) => app.runtime.start(inTurn, { inputs: [use, use] }, { executionId, principal })),
    );
    await within(Promise.all(handles.map((handle) => handle.result())), "the ends");
    const { ledger } = app.envelope!;
    const used = (): number => ledger.used({ scope: "tenant", of: "acme", meter: "calls" });
    expect(used()).toBe(40);
    const dying = await app.runtime.start(
      inTurn,
      { toolId: "exit", inputs: [{}] },
      { executionId: "d", principal },
    );
    expect(await within(dying.result(), "the end of what ended its thread")).toEqual(["survived"]);
    // The call that was cut off, and the one after it.
    expect(used()).toBe(42);
    expect((await app.runtime.loadState("d")).usage).toMatchObject({ calls: 2 });
  });

  test("throttles over all threads", async () => {
    const file = join(temporaryDirectory(), "calls");
    const budget = {
      scope: "tenant",
      meter: "calls",
      limit: 5,
      perMs: 3_600_000,
      onExceeded: "throttle",
    } as const;
    const app = openApp("partition threads", [budget]);
    const inputs = [{ file }];
    await Promise.all(
      ids.map((executionId) => app.runtime.start(inTurn, { inputs }, { executionId, principal: acme })),
    );
    const { ledger } = app.envelope!;
    await until(() => marksIn(file).length === 5, "five calls");
    const waiting = async (): Promise<number> => {
      const states = await Promise.all(ids.map((id) => app.stores.eventStore.read(id)));
      return states.filter((events) => events.at(-1)?.type === "STEP_RETRIED").length;
    };
    await until(async () => (await waiting()) >= 15, "the others wait");
    expect(marksIn(file)).toHaveLength(5);
    expect(ledger.used({ scope: "tenant", of: "acme", meter: "calls", perMs: 3_600_000 })).toBe(5);
  });
});

test("an execution's budget needs nobody to be asked", async () => {
  const app = openApp("partition threads", [{ scope: "execution", meter: "tokens", limit: 3 }]);
  const use = { reports: [{ tokens: 2 }] };
  const handle = await app.runtime.start(inTurn, { inputs: [use, use, use] });
  expect(await within(handle.result(), "the end")).toEqual(["used", "used", "QUOTA_EXCEEDED"]);
});
