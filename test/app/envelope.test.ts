// execution.envelope: what is wrong with it is named, and what it opens can be read.

import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type Budget, defineConfig, type HeddleError, type LoomConfig, step$ } from "../../src/index.js";
import { flow, latch, openApp, temporaryDirectory, within } from "../lifecycle/world.js";
import { until } from "../support/until.js";

function refusal(envelope: unknown): HeddleError {
  try {
    const app = defineConfig({ storage: { kind: "memory" }, execution: { envelope } } as LoomConfig);
    void app.close();
  } catch (error) {
    return error as HeddleError;
  }
  throw new Error(`Nothing was refused: ${JSON.stringify(envelope)}`);
}

const budget = { scope: "flow", meter: "calls", limit: 1 };

describe("a budget that is none", () => {
  it.each([
    ["a name", "budgets[0]", "ten calls"],
    ["nothing", "budgets[0]", null],
    ["another scope", "budgets[0].scope", { ...budget, scope: "user" }],
    ["no scope", "budgets[0].scope", { meter: "calls", limit: 1 }],
    ["another meter", "budgets[0].meter", { ...budget, meter: "dollars" }],
    ["no limit", "budgets[0].limit", { scope: "flow", meter: "calls" }],
    ["a limit of nothing", "budgets[0].limit", { ...budget, limit: 0 }],
    ["half a call", "budgets[0].limit", { ...budget, limit: 1.5 }],
    ["a negative cost", "budgets[0].limit", { ...budget, meter: "cost", limit: -1 }],
    ["an endless limit", "budgets[0].limit", { ...budget, limit: Infinity }],
    ["a limit in words", "budgets[0].limit", { ...budget, limit: "10" }],
    ["a window of nothing", "budgets[0].perMs", { ...budget, perMs: 0 }],
    ["a window of ages", "budgets[0].perMs", { ...budget, perMs: 1e13 }],
    ["a window in words", "budgets[0].perMs", { ...budget, perMs: "1m" }],
    ["another answer", "budgets[0].onExceeded", { ...budget, onExceeded: "warn" }],
    ["a wait without a window", "budgets[0].perMs", { ...budget, onExceeded: "throttle" }],
    ["one execution", "budgets[0].of", { ...budget, scope: "execution", of: "x" }],
    ["nobody", "budgets[0].of", { ...budget, of: "" }],
    ["an unknown field", "budgets[0].per", { ...budget, per: 1_000 }],
  ])("%s: %s", (_what, place, wrong) => {
    const error = refusal({ budgets: [wrong] });
    const option = `execution.envelope.${place}`;
    expect(error).toMatchObject({ code: "CONFIG_INVALID", details: { option } });
    expect(error.message).toContain(option);
  });

  it("names the place of the one that is wrong", () => {
    expect(refusal({ budgets: [budget, budget, { ...budget, limit: 0 }] }).message).toContain(
      "budgets[2].limit",
    );
  });
});

describe("an envelope that is none", () => {
  it.each([
    ["a list", "execution.envelope", []],
    ["budgets that are no list", "execution.envelope.budgets", { budgets: budget }],
    ["an unknown option", "execution.envelope.budget", { budget: [] }],
    ["spawn limits that are none", "execution.envelope.spawn", { spawn: 3 }],
    ["an unknown spawn limit", "execution.envelope.spawn.depth", { spawn: { depth: 3 } }],
    ["a negative spawn limit", "execution.envelope.spawn.maxDepth", { spawn: { maxDepth: -1 } }],
  ])("%s", (_what, option, wrong) => {
    expect(refusal(wrong)).toMatchObject({ code: "CONFIG_INVALID", details: { option } });
  });
});

describe("app.envelope", () => {
  it("is there when it was asked for", async () => {
    const without = openApp({ dir: temporaryDirectory(), flows: [] });
    expect(without.envelope).toBeUndefined();
    const spawn = { maxDepth: 2, maxChildren: 10 };
    const app = openApp({ dir: temporaryDirectory(), flows: [], execution: { envelope: { spawn } } });
    expect(app.envelope?.spawn).toEqual(spawn);
    expect(app.envelope?.ledger.list()).toEqual([]);
  });

  it("tells what is used of each budget, while calls are under way and after", async () => {
    const anything = z.unknown();
    const gate = latch();
    const ask = step$({
      id: "ask",
      inputSchema: anything,
      outputSchema: anything,
      handler: async (_input, { meter }) => {
        meter({ tokens: 7 });
        await gate.opened;
        meter({ tokens: 1, cost: 0.5 });
      },
    });
    const f = flow("asking", (ctx) => ctx.run(ask, 0));
    const budgets: Budget[] = [
      { scope: "flow", meter: "tokens", limit: 100 },
      { scope: "tenant", meter: "cost", limit: 1, perMs: 86_400_000 },
    ];
    const app = openApp({ dir: temporaryDirectory(), flows: [f], execution: { envelope: { budgets } } });
    const { ledger } = app.envelope!;
    const handle = await app.runtime.start(f, 0, { executionId: "x", principal: { tenant: "acme" } });
    await until(() => ledger.used({ scope: "flow", of: "asking", meter: "tokens" }) > 0, "the first report");
    const used = (scope: "execution" | "flow" | "tenant", of: string) =>
      (["calls", "tokens", "cost"] as const).map((meter) => ledger.used({ scope, of, meter }));
    expect(used("execution", "x")).toEqual([1, 7, 0]);
    expect(used("tenant", "acme")).toEqual([1, 7, 0]);
    gate.open();
    await within(handle.result(), "the end");
    expect(used("flow", "asking")).toEqual([1, 8, 0.5]);
    expect(used("tenant", "nobody")).toEqual([0, 0, 0]);
    expect(ledger.list()).toMatchObject([
      { of: "asking", used: 8, budget: budgets[0] },
      { of: "acme", used: 0.5, budget: budgets[1] },
    ]);
    expect((await app.runtime.loadState("x")).usage).toMatchObject({ calls: 1, tokens: 8, cost: 0.5 });
  });
});
