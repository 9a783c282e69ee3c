import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Tally } from "../../../src/effects/quota/tally.js";
import type { Meter } from "../../../src/kernel/index.js";

const METERS: readonly Meter[] = ["calls", "tokens", "cost", "wallMs"];
const usedOf = (tally: Tally, now: number): number[] => METERS.map((meter) => tally.used(meter, now));

describe("a window", () => {
  test("has a call in it that begins in it, and what a call used that is over in it (T1)", () => {
    const tally = new Tally(100);
    tally.begin(90);
    tally.report(5, 0.5);
    expect(usedOf(tally, 95)).toEqual([1, 5, 0.5, 0]);
    // In the next window the call is not, but what it is known to have used.
    expect(usedOf(tally, 110)).toEqual([0, 5, 0.5, 0]);
    tally.settle({ tokens: 8, cost: 0.5, wallMs: 30, startedAt: 90 }, 120);
    expect(usedOf(tally, 120)).toEqual([0, 8, 0.5, 30]);
    expect(tally.kept).toEqual({ calls: 0, tokens: 8, cost: 0.5, wallMs: 30 });
    expect(usedOf(tally, 200)).toEqual([0, 0, 0, 0]);
  });

  test("is not opened again by a clock that goes back (T3)", () => {
    const tally = new Tally(100);
    tally.begin(250);
    tally.begin(150);
    expect(tally.used("calls", 150)).toBe(2);
    expect(tally.windowStart).toBe(200);
  });

  test("forgets a call that was taken back, and none of another window", () => {
    const tally = new Tally(100);
    tally.begin(10);
    tally.begin(110);
    tally.takeBack(10);
    expect(tally.used("calls", 120)).toBe(1);
    tally.takeBack(110);
    expect(tally.used("calls", 120)).toBe(0);
  });

  test("goes on with what was kept of it (T2)", () => {
    const before = new Tally(100);
    before.begin(10);
    before.begin(20);
    before.settle({ tokens: 1, cost: 2, wallMs: 3, startedAt: 10 }, 30);
    const after = new Tally(100, before.windowStart, before.kept);
    expect(usedOf(after, 40)).toEqual([1, 1, 2, 3]);
    expect(usedOf(after, 140)).toEqual([0, 0, 0, 0]);
  });
});

test("costs that were reported leave nothing behind when their calls are over", () => {
  const tally = new Tally(0);
  for (let i = 0; i < 3; i++) {
    tally.begin(0);
    tally.report(0, 0.1);
  }
  for (let i = 0; i < 3; i++) tally.settle({ tokens: 0, cost: 0.1, wallMs: 0, startedAt: 0 }, 1);
  expect(tally.used("cost", 2)).toBe(tally.kept.cost);
});

interface Call {
  readonly startedAt: number;
  readonly reports: readonly number[];
  readonly ms: number;
}

test("whatever calls there are and however they overlap, what is used is what they used", () => {
  const anyCall: fc.Arbitrary<Call> = fc.record({
    startedAt: fc.nat(1_000),
    reports: fc.array(fc.nat(50), { maxLength: 3 }),
    ms: fc.nat(500),
  });
  fc.assert(
    fc.property(fc.array(anyCall, { maxLength: 20 }), fc.constantFrom(0, 100, 333), (calls, perMs) => {
      const tally = new Tally(perMs);
      const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);
      const moments = calls
        .flatMap((call) => [
          {
            at: call.startedAt,
            run: () => void (tally.begin(call.startedAt), call.reports.map((n) => tally.report(n, n))),
          },
          {
            at: call.startedAt + call.ms,
            run: () => {
              const tokens = sum(call.reports);
              const { startedAt, ms: wallMs } = call;
              tally.settle({ tokens, cost: tokens, wallMs, startedAt }, startedAt + wallMs);
            },
          },
        ])
        .sort((a, b) => a.at - b.at);
      for (const { run } of moments) run();
      const now = 1_500;
      const start = perMs === 0 ? 0 : now - (now % perMs);
      const over = calls.filter((call) => call.startedAt + call.ms >= start);
      expect(usedOf(tally, now)).toEqual([
        calls.filter((call) => call.startedAt >= start).length,
        sum(over.flatMap((call) => call.reports)),
        sum(over.flatMap((call) => call.reports)),
        sum(over.map((call) => call.ms)),
      ]);
    }),
  );
});
