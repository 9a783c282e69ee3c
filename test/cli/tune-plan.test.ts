// The plan of `heddle tune`: which setting is tried after which. Made-up effects, no threads.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { costAtMost, type PlanLimits } from "../../src/cli/tune/plan.js";
import { follow, type MadeUp, TIME, words } from "./tune-world.js";

const tried = (effect: MadeUp, limits?: PlanLimits): string =>
  follow(effect, limits)
    .map(({ setting }) => words(setting))
    .join(" ");

describe("the settings that are tried", () => {
  it("one call at a time on one thread comes first: it says what the effect is", () => {
    expect(tried({ heldMs: 5, waitMs: 0 }).startsWith("1x1 ")).toBe(true);
  });

  it("an effect that computes: more calls on a thread do not help, more threads do", () => {
    expect(tried({ heldMs: 5, waitMs: 0 })).toBe("1x1 1x4 2x1 2x4");
  });

  it("threads are doubled up to the most, until they do not help", () => {
    const limits = { ...TIME, maxThreads: 6 };
    expect(tried({ heldMs: 5, waitMs: 0, processors: 6 }, limits)).toBe("1x1 1x4 2x1 2x4 4x1 4x4 6x1 6x4");
    expect(tried({ heldMs: 5, waitMs: 0, processors: 2 }, limits)).toBe("1x1 1x4 2x1 2x4 4x1 4x4");
  });

  it("an effect that waits: calls go up as long as they help, and an idle thread gets no second one", () => {
    expect(tried({ heldMs: 0.01, waitMs: 20 })).toBe("1x1 1x4 1x16 1x64 1x256");
    expect(tried({ heldMs: 0.01, waitMs: 20 }, { ...TIME, maxCallsPerThread: 40 })).toBe("1x1 1x4 1x16 1x40");
  });

  it("an effect that does both: both are tried, and in the end as many calls as should just fill a thread", () => {
    expect(tried({ heldMs: 2, waitMs: 10 })).toBe("1x1 1x4 1x16 1x64 2x1 2x4 2x16 2x64 2x8");
  });

  it("an effect that fails when too much is asked of it is not asked more", () => {
    expect(tried({ heldMs: 0.01, waitMs: 20, inFlightMax: 8 })).toBe("1x1 1x4 1x16");
  });

  it("one that fails now and then anyway is not taken for that", () => {
    expect(tried({ heldMs: 0.01, waitMs: 20, flaky: 0.05 })).toBe("1x1 1x4 1x16 1x64 1x256");
  });

  it("other packets are for effects that are shorter than their hand-over, and no larger than what fills them", () => {
    const short = { heldMs: 0.01, waitMs: 0.03, processors: 1 };
    expect(tried(short)).toBe("1x1 1x4 1x16 2x1 2x4 2x16");
    expect(tried({ heldMs: 0.001, waitMs: 0.1, processors: 1 })).toBe(
      "1x1 1x4 1x16 1x64 1x256 2x1 2x4 2x16 2x64 2x256 1x256/16 1x256/256",
    );
  });

  it("few calls are not spread over many in flight", () => {
    const limits: PlanLimits = { ...TIME, budget: { kind: "calls", calls: 40 } };
    expect(tried({ heldMs: 0.01, waitMs: 20 }, limits)).toBe("1x1 1x4 1x16");
    expect(tried({ heldMs: 5, waitMs: 0 }, { ...limits, budget: { kind: "calls", calls: 1 } })).toBe("1x1");
  });
});

describe("what is announced", () => {
  it("is what all settings there may be cost, with the calls that warm them up", () => {
    const limits: PlanLimits = { maxThreads: 2, maxCallsPerThread: 4, budget: { kind: "calls", calls: 100 } };
    // 1x1, 1x4, 2x1, 2x4, and up to three more at the end.
    expect(costAtMost(limits)).toEqual({ settings: 7, inFlight: 8, calls: 7 * 100 + 1 + 4 + 2 + 8 + 3 * 8 });
    expect(costAtMost(TIME)).toEqual({ settings: 13, inFlight: 512, calls: undefined });
  });

  it("holds for every effect: nothing is tried twice, nothing beyond what was announced, and the plan ends", () => {
    const effects = fc.record({
      heldMs: fc.double({ min: 0, max: 20, noNaN: true }),
      waitMs: fc.double({ min: 0.001, max: 50, noNaN: true }),
      processors: fc.integer({ min: 1, max: 16 }),
      inFlightMax: fc.integer({ min: 1, max: 3_000 }),
      flaky: fc.constantFrom(0, 0.02, 0.9),
    });
    const limits = fc.record({
      maxThreads: fc.integer({ min: 1, max: 33 }),
      maxCallsPerThread: fc.integer({ min: 1, max: 1_024 }),
      budget: fc.oneof(
        fc.record({ kind: fc.constant("time" as const), ms: fc.constant(1_000) }),
        fc.record({ kind: fc.constant("calls" as const), calls: fc.integer({ min: 1, max: 5_000 }) }),
      ),
    });
    fc.assert(
      fc.property(effects, limits, (effect, limits) => {
        const settings = follow(effect, limits).map(({ setting }) => setting);
        const most = costAtMost(limits);
        const { budget } = limits;
        const inFlight = settings.map(({ threads, callsPerThread }) => threads * callsPerThread);
        expect(new Set(settings.map(words)).size).toBe(settings.length);
        expect(settings.length).toBeLessThanOrEqual(most.settings);
        expect(Math.max(...inFlight)).toBeLessThanOrEqual(most.inFlight);
        if (budget.kind === "time") return;
        const calls = inFlight.reduce((sum, each) => sum + each + budget.calls, 0);
        expect(calls).toBeLessThanOrEqual(most.calls ?? 0);
      }),
    );
  });
});
