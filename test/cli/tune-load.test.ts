// The load `heddle tune` puts on an effect, with calls that end when the test says so.

import { describe, expect, it } from "vitest";
import { applyLoad, type LoadOptions } from "../../src/cli/tune/load.js";

/** Calls that wait to be ended, oldest first. */
class Desk {
  made = 0;
  most = 0;
  readonly open: { readonly complete: () => void; readonly fail: (error: Error) => void }[] = [];

  readonly call = (): Promise<void> => {
    this.made += 1;
    return new Promise((resolve, reject) => {
      this.open.push({ complete: () => resolve(), fail: reject });
      this.most = Math.max(this.most, this.open.length);
    });
  };

  async complete(count = 1): Promise<void> {
    for (let n = 0; n < count; n++) this.open.shift()?.complete();
    await new Promise(setImmediate);
  }

  async fail(count = 1): Promise<void> {
    for (let n = 0; n < count; n++) this.open.shift()?.fail(new Error(`refused ${n}`));
    await new Promise(setImmediate);
  }
}

const never = new AbortController().signal;

function start(desk: Desk, options: Pick<LoadOptions, "inFlight" | "budget"> & Partial<LoadOptions>) {
  let isOver = false;
  let counts = 0;
  const load = applyLoad({ signal: never, call: desk.call, onCounted: () => counts++, ...options });
  const ended = load.finally(() => {
    isOver = true;
  });
  return { ended, isOver: () => isOver, counts: () => counts };
}

describe("a budget of calls", () => {
  it("is made, with so many in flight as were asked for and never more (L1)", async () => {
    const desk = new Desk();
    const { ended } = start(desk, { inFlight: 3, budget: { kind: "calls", calls: 10 } });
    expect(desk.made).toBe(3);
    await desk.complete();
    expect(desk.made).toBe(4);
    while (desk.open.length > 0) await desk.complete();
    await ended;
    expect(desk).toMatchObject({ made: 10, most: 3 });
  });

  it("counts what ends while the load is full, and waits for the rest (L2)", async () => {
    const desk = new Desk();
    const { ended, isOver, counts } = start(desk, { inFlight: 4, budget: { kind: "calls", calls: 10 } });
    await desk.complete(4);
    await desk.complete(2);
    expect([desk.made, counts()]).toEqual([10, 0]);
    await desk.complete(1);
    expect([counts(), isOver()]).toEqual([1, false]);
    await desk.complete(3);
    expect(await ended).toMatchObject({ completed: 7, failed: 0 });
    expect(counts()).toBe(1);
  });

  it("counts all of them when there are fewer than could be in flight", async () => {
    const desk = new Desk();
    const { ended } = start(desk, { inFlight: 8, budget: { kind: "calls", calls: 1 } });
    await desk.complete();
    expect(await ended).toMatchObject({ completed: 1 });
  });
});

describe("a budget of time", () => {
  it("is stretched until as many have ended as are in flight (L3)", async () => {
    const desk = new Desk();
    const { ended, counts } = start(desk, { inFlight: 5, budget: { kind: "time", ms: 0 } });
    await desk.complete(4);
    expect(counts()).toBe(0);
    expect(desk.made).toBe(9);
    await desk.complete(1);
    expect(counts()).toBe(1);
    await desk.complete(4);
    expect(await ended).toMatchObject({ completed: 5 });
    expect(desk.made).toBe(9);
  });
});

describe("calls that fail", () => {
  it("are counted apart, with the first failure", async () => {
    const desk = new Desk();
    const { ended } = start(desk, { inFlight: 1, budget: { kind: "calls", calls: 3 } });
    await desk.complete();
    await desk.fail();
    await desk.complete();
    expect(await ended).toMatchObject({ completed: 2, failed: 1, failure: new Error("refused 0") });
  });

  it("end the load when they are the most (L4)", async () => {
    const desk = new Desk();
    const { ended } = start(desk, { inFlight: 10, budget: { kind: "calls", calls: 10_000 } });
    await desk.complete(10);
    while (desk.open.length > 0) await desk.fail(10);
    const count = await ended;
    expect(count).toMatchObject({ completed: 10, failed: 30 });
    expect(desk.made).toBeLessThanOrEqual(60);
  });
});

describe("an interruption", () => {
  it("ends the load at once, whatever its calls do, and makes none any more", async () => {
    const desk = new Desk();
    const stop = new AbortController();
    const { ended } = start(desk, { inFlight: 2, budget: { kind: "calls", calls: 9 }, signal: stop.signal });
    await desk.complete();
    stop.abort();
    expect(await ended).toBeUndefined();
    await desk.complete(2);
    expect(desk.made).toBe(3);
  });

  it("that came before makes no call at all", async () => {
    const desk = new Desk();
    const { ended } = start(desk, {
      inFlight: 2,
      budget: { kind: "calls", calls: 9 },
      signal: AbortSignal.abort(),
    });
    expect(await ended).toBeUndefined();
    expect(desk.made).toBe(0);
  });
});
