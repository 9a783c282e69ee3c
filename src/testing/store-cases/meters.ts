import assert from "node:assert/strict";
import type { MeterRow } from "../../kernel/meter.js";
import { ScriptedExecution } from "../scripted-execution.js";
import type { Capabilities, Test } from "./bench.js";

const row = (change: Partial<MeterRow> = {}): MeterRow => ({
  scope: "flow",
  of: "orders",
  perMs: 0,
  windowStart: 0,
  calls: 3,
  tokens: 1_200,
  cost: 0.1 + 0.2,
  wallMs: 5.5,
  ...change,
});

const sorted = (rows: readonly MeterRow[]): string[] => rows.map((each) => JSON.stringify(each)).sort();

export function meterTests(test: Test, { persistent }: Capabilities): void {
  test("keeps the latest of each total: its scope, subject and window length tell it apart", async ({
    log,
  }) => {
    const execution = new ScriptedExecution(0);
    assert.deepEqual(await log.meters(), []);
    const others = [
      row({ scope: "tenant" }),
      row({ of: "orders " }),
      row({ perMs: 60_000, windowStart: 1_700_000_040_000 }),
      row({ perMs: 0.5, calls: 0 }),
    ];
    await log.commit({ executions: [execution.start()], meters: [row(), ...others] });
    await log.commit({ executions: [execution.advance()], meters: [row({ calls: 4 })] });
    await log.commit({ executions: [execution.advance()] });
    assert.deepEqual(sorted(await log.meters()), sorted([row({ calls: 4 }), ...others]));
  });

  test("keeps names of any length apart", async ({ log }) => {
    const names = [`${"t".repeat(4_000)}1`, `${"t".repeat(4_000)}2`, "🧵".repeat(256), "a:b"];
    const rows = names.map((of) => row({ scope: "tenant", of }));
    await log.commit({ executions: [new ScriptedExecution(0).start()], meters: rows });
    assert.deepEqual(sorted(await log.meters()), sorted(rows));
  });

  test("a batch that is refused changes no total", async ({ log }) => {
    const execution = new ScriptedExecution(0);
    await log.commit({ executions: [execution.start()], meters: [row()] });
    const bad = { ...execution.advance(), arm: [{ wakeAt: Number.NaN, key: 0, gateId: "g" }] };
    await assert.rejects(log.commit({ executions: [bad], meters: [row({ calls: 9 })] }));
    assert.deepEqual(await log.meters(), [row()]);
  });

  if (!persistent) return;
  test("totals outlive the store object", async ({ log, underTest }) => {
    await log.commit({ executions: [new ScriptedExecution(0).start()], meters: [row()] });
    const store = await underTest.reopen();
    assert.deepEqual(await (await store.open(0)).meters(), [row()]);
  });
}
