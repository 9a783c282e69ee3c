import assert from "node:assert/strict";
import { ScriptedExecution } from "../scripted-execution.js";
import type { Test } from "./bench.js";

export function timerTests(test: Test): void {
  test("tells which timers are due, earliest first", async ({ log, commit }) => {
    const execution = new ScriptedExecution(5);
    const timer = (wakeAt: number, gateId: string) => ({ wakeAt, key: 5, gateId });
    const arm = [
      timer(300, "c"),
      timer(100, "a"),
      timer(1_700_000_000_000.5, "late"),
      timer(200, "b"),
      timer(0, "zero"),
    ];
    await commit(execution.start({}, { arm }));
    assert.deepEqual(await log.timersDue(200, 10), [timer(0, "zero"), timer(100, "a"), timer(200, "b")]);
    assert.deepEqual(await log.timersDue(1e15, 2), [timer(0, "zero"), timer(100, "a")]);
    assert.deepEqual((await log.timersDue(1e15, 10)).at(-1), timer(1_700_000_000_000.5, "late"));
    assert.equal(await log.nextTimer(-1), 0);
    assert.equal(await log.nextTimer(0), 100);
    assert.equal(await log.nextTimer(250), 300);
    assert.equal(await log.nextTimer(1_700_000_000_000.5), undefined);
  });

  test("forgets a timer that was disarmed, and no other", async ({ log, commit }) => {
    const [first, second] = [new ScriptedExecution(0), new ScriptedExecution(1)];
    const timers = [
      { wakeAt: 10, key: 0, gateId: "a" },
      { wakeAt: 10, key: 0, gateId: "b" },
      { wakeAt: 10, key: 1, gateId: "a" },
      { wakeAt: 11, key: 0, gateId: "a" },
    ] as const;
    await commit(first.start({}, { arm: timers }), second.start());
    await commit(first.advance(1, { disarm: [timers[0]] }));
    assert.deepEqual(await log.timersDue(20, 10), [timers[1], timers[2], timers[3]]);
    await commit(first.advance(1, { disarm: [timers[1], timers[2], timers[3]], arm: [timers[0]] }));
    assert.deepEqual(await log.timersDue(20, 10), [timers[0]]);
  });

  test("keeps gates apart whose long names differ at the end (C-LOG-01)", async ({ log, commit }) => {
    const execution = new ScriptedExecution(0);
    const long = "g".repeat(4000);
    const timers = [`${long}1`, `${long}2`, "🧵".repeat(256)].map((gateId) => ({
      wakeAt: 1,
      key: 0,
      gateId,
    }));
    await commit(execution.start({}, { arm: timers }));
    const names = async (): Promise<string[]> =>
      (await log.timersDue(1, 10)).map(({ gateId }) => gateId).sort();
    assert.deepEqual(await names(), timers.map(({ gateId }) => gateId).sort());
    await commit(execution.advance(1, { disarm: [timers[0]!] }));
    assert.deepEqual(await names(), [timers[1]!.gateId, timers[2]!.gateId].sort());
  });
}
