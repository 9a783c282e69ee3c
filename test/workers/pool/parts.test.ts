// The parts of the pool that decide or count, without a thread.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toWire } from "../../../src/kernel/codec/index.js";
import { wireBytes } from "../../../src/kernel/index.js";
import { PendingCall } from "../../../src/workers/pool/call.js";
import { Claims, nextId } from "../../../src/workers/pool/claims.js";
import { Quantiles } from "../../../src/workers/pool/quantiles.js";
import { judge } from "../../../src/workers/pool/verdict.js";
import { callOf } from "./world.js";

describe("claims", () => {
  it("C1: a call is either claimed or revoked, never both", () => {
    const claims = new Claims();
    const thread = new Claims(claims.memory);
    claims.offer(5);
    expect([thread.claim(5), claims.revoke(5), claims.isClaimed(5)]).toEqual([true, false, true]);
    claims.offer(6);
    expect([claims.revoke(6), thread.claim(6), claims.isClaimed(6)]).toEqual([true, false, false]);
  });

  it("a stale message finds another id in its slot", () => {
    const claims = new Claims();
    const slots = claims.memory.byteLength / 4;
    claims.offer(7);
    claims.revoke(7);
    claims.offer(7 + slots);
    expect([claims.claim(7), claims.claim(7 + slots)]).toEqual([false, true]);
  });

  it("ids begin again after a billion, and stay positive", () => {
    expect([nextId(0), nextId(1), nextId(2 ** 30)]).toEqual([1, 2, 1]);
  });
});

describe("a verdict", () => {
  const calls = [1, 2, 3].map((id) => Object.assign(new PendingCall(callOf("echo"), 0, 0, () => {}), { id }));
  const [one, two, three] = calls as [PendingCall, PendingCall, PendingCall];
  const died = (blame?: number) => ({ kind: "died", error: new Error("x"), blame }) as const;

  it.each([
    ["V1: the thread named it", died(2), calls, false, { lost: [two], suspects: [], innocent: [one, three] }],
    ["V1: it had the thread to itself", died(0), [one], true, { lost: [one], suspects: [], innocent: [] }],
    ["V1: nobody else had started", died(), [one], false, { lost: [one], suspects: [], innocent: [] }],
    ["V2: the thread said nothing", died(), calls, false, { lost: [], suspects: calls, innocent: [] }],
    ["V3: the module's own doing", died(0), calls, false, { lost: [], suspects: [], innocent: calls }],
    ["V3: one that is gone already", died(9), calls, false, { lost: [], suspects: [], innocent: calls }],
    ["V3: ended by force", { kind: "killed" }, calls, true, { lost: [], suspects: [], innocent: calls }],
  ] as const)("%s", (_title, end, started, wasSolo, expected) => {
    expect(judge(end, started, wasSolo)).toEqual(expected);
  });

  it("V3: what may not be repeated is lost with the thread, whoever ended it", () => {
    const request = callOf("pay", undefined, { mayRepeat: false });
    const pay = Object.assign(new PendingCall({ ...request, input: undefined }, 0, 0, () => {}), { id: 4 });
    expect(judge(died(2), [two, pay], false)).toEqual({ lost: [two, pay], suspects: [], innocent: [] });
    expect(judge(died(), [one, pay], false)).toEqual({ lost: [pay], suspects: [one], innocent: [] });
    expect(judge({ kind: "killed" }, [one, pay], false)).toEqual({
      lost: [pay],
      suspects: [],
      innocent: [one],
    });
  });
});

describe("quantiles", () => {
  it("are off by less than an eighth, from a microsecond to an hour", () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0.001, max: 3.6e6, noNaN: true }), { minLength: 1 }),
        (values) => {
          const quantiles = new Quantiles();
          for (const value of values) quantiles.record(value);
          const sorted = values.toSorted((a, b) => a - b);
          for (const [share, name] of [
            [0.5, "p50"],
            [0.99, "p99"],
          ] as const) {
            const exact = sorted[Math.ceil(share * sorted.length) - 1] as number;
            const read = quantiles.read()[name];
            expect(read).toBeGreaterThanOrEqual(Math.min(exact, sorted.at(-1) as number) * 0.999 - 0.001);
            expect(read).toBeLessThanOrEqual(exact * 1.126 + 0.001);
          }
          expect(quantiles.read()).toMatchObject({ count: values.length, max: sorted.at(-1) });
        },
      ),
    );
  });

  it("of nothing are nothing", () => {
    expect(new Quantiles().read()).toEqual({ count: 0, p50: 0, p99: 0, max: 0 });
  });
});

describe("the bytes of a wire", () => {
  it("are within a factor of what it holds, whatever it is", () => {
    expect(wireBytes(toWire("x".repeat(1_000)))).toBeGreaterThan(1_000);
    expect(wireBytes(toWire(Buffer.alloc(1_000)))).toBeGreaterThan(1_000);
    expect(wireBytes(toWire({ a: [1, { b: new Map([["c", new Date()]]) }], d: undefined }))).toBeLessThan(
      500,
    );
  });
});
