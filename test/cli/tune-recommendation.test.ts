// What `heddle tune` makes of what it measured: the class of the effect, the settings, the reason. Made-up effects.

import { describe, expect, it } from "vitest";
import { callsThatFill, classOf } from "../../src/cli/tune/effect-class.js";
import { recommend, type Surroundings } from "../../src/cli/tune/recommendation.js";
import { follow, type MadeUp, measurementOf, TIME } from "./tune-world.js";

const ALONE = { threads: 1, callsPerThread: 1, packetCalls: 64 };
const classed = (effect: MadeUp) => classOf(measurementOf(effect, ALONE));

describe("the class of an effect", () => {
  it("is by the share of a call that keeps the thread", () => {
    expect(classed({ heldMs: 5, waitMs: 0 }).kind).toBe("cpu");
    expect(classed({ heldMs: 9, waitMs: 1 }).kind).toBe("cpu");
    expect(classed({ heldMs: 8.9, waitMs: 1.1 }).kind).toBe("mixed");
    expect(classed({ heldMs: 1.1, waitMs: 8.9 }).kind).toBe("mixed");
    expect(classed({ heldMs: 1, waitMs: 9 }).kind).toBe("io");
    expect(classed({ heldMs: 0, waitMs: 20 }).kind).toBe("io");
  });

  it("what waking up for a single call costs is not held against an effect that waits", () => {
    const alone = measurementOf({ heldMs: 3, waitMs: 17 }, ALONE);
    const many = measurementOf({ heldMs: 0.1, waitMs: 19.9 }, { ...ALONE, callsPerThread: 64 });
    expect(classOf(alone).kind).toBe("mixed");
    expect(classOf(alone, [alone, many])).toMatchObject({ kind: "io", heldMs: 0.1 });
    // Calls that fail at once hold nothing for long.
    expect(classOf(alone, [alone, { ...many, failed: 500 }]).kind).toBe("mixed");
  });

  it("says how many calls fill a thread: one and the ratio of waiting to computing", () => {
    expect(callsThatFill(classed({ heldMs: 2, waitMs: 10 }))).toBe(6);
    expect(callsThatFill(classed({ heldMs: 5, waitMs: 0 }))).toBe(1);
    expect(callsThatFill(classed({ heldMs: 0, waitMs: 5 }))).toBe(Infinity);
  });

  it("an effect that waits without letting its thread go is IO-bound, and said to block", () => {
    expect(classed({ heldMs: 20, waitMs: 0, cpuMs: 0.2 })).toMatchObject({ kind: "io", isBlocking: true });
    expect(classed({ heldMs: 20, waitMs: 0, cpuMs: 12 })).toMatchObject({ kind: "cpu", isBlocking: false });
  });

  it("an effect that computes on other threads than its own is said to", () => {
    expect(classed({ heldMs: 0.1, waitMs: 50, cpuMs: 48 })).toMatchObject({ kind: "io", isElsewhere: true });
    expect(classed({ heldMs: 5, waitMs: 0, cpuMs: 5.2 }).isElsewhere).toBe(false);
    // Of so short a call the processor time is that of its hand-over.
    expect(classed({ heldMs: 0.02, waitMs: 0.02, cpuMs: 0.3 }).isElsewhere).toBe(false);
  });
});

const SURROUNDINGS: Surroundings = { processors: 2, ...TIME };

function advised(effect: MadeUp, surroundings: Partial<Surroundings> = {}) {
  const limits = { ...TIME, ...surroundings };
  const recommendation = recommend(follow(effect, limits), { ...SURROUNDINGS, ...surroundings });
  if (!recommendation) throw new Error("There is no recommendation.");
  return recommendation;
}

describe("the recommendation", () => {
  it("an effect that computes: a thread a processor, one call each", () => {
    const { advice, reason, notes } = advised({ heldMs: 5, waitMs: 0 });
    expect(advice).toEqual({
      minThreads: 1,
      maxThreads: 2,
      callsPerThread: 1,
      packet: { maxCalls: 64, maxDelayMs: 0 },
    });
    expect(reason).toMatchInlineSnapshot(
      `"A call keeps its thread busy for 100 % of its 5.0 ms, so threads are what helps: 2 threads with 1 call at a time each do 400 calls/s, and more calls on a thread would only wait for each other."`,
    );
    expect(notes).toMatchInlineSnapshot(`
      [
        "That is a thread for each of the 2 processors: the host has to share one. Take one thread less if the host must stay quick.",
      ]
    `);
  });

  it("an effect that waits: one thread, many calls, and a word when even more may do better", () => {
    const { advice, reason, notes } = advised({ heldMs: 0.01, waitMs: 20 });
    expect(advice).toMatchObject({ maxThreads: 1, callsPerThread: 256 });
    expect(reason).toMatchInlineSnapshot(
      `"A call keeps its thread for 0.01 ms of its 20.0 ms and waits the rest, so calls share a thread well: 256 calls at a time on 1 thread do 12,794 calls/s with a p99 of 24.0 ms, the thread busy for 13 % of the time."`,
    );
    expect(notes).toMatchInlineSnapshot(`
      [
        "It was still getting faster at 256 calls a thread, the most that was tried: --max-calls-per-thread tries more, if what it calls can take it.",
      ]
    `);
  });

  it("an effect that does both: as many calls as fill a thread", () => {
    const { advice, reason } = advised({ heldMs: 2, waitMs: 10 });
    expect(advice).toMatchObject({ maxThreads: 2, callsPerThread: 8 });
    expect(reason).toMatchInlineSnapshot(
      `"A call keeps its thread for 2.0 ms of its 12.0 ms and waits the rest, so about 6 fill one: 8 calls at a time on each of 2 threads do 1,000 calls/s with a p99 of 19.2 ms, the threads busy for 100 % of the time."`,
    );
  });

  it("a thread more that gains little is not recommended", () => {
    const effect = { heldMs: 5, waitMs: 0, processors: 1.05 };
    expect(advised(effect).advice.maxThreads).toBe(1);
  });

  it("calls that gain little are not recommended", () => {
    // Four fill 97 % of the thread.
    expect(advised({ heldMs: 5, waitMs: 15.6, processors: 1 }).advice.callsPerThread).toBe(4);
  });

  it("an effect whose rate creeps up at the price of its latency: the knee, and a word about the rest", () => {
    // Calls of one effect that wake up together wait for each other: half of each step is lost.
    const creeping = follow({ heldMs: 1, waitMs: 10 }).filter(({ setting }) => setting.threads === 1);
    const rates = new Map([
      [1, 90],
      [4, 260],
      [16, 530],
      [64, 720],
      [256, 790],
    ]);
    const curve = [1, 4, 16, 64, 256].map((callsPerThread) => {
      const throughput = rates.get(callsPerThread) ?? 0;
      return { ...creeping[0]!, setting: { ...ALONE, callsPerThread }, throughput };
    });
    const { advice, notes } = recommend(curve, SURROUNDINGS) ?? {};
    expect(advice?.callsPerThread).toBe(16);
    expect(notes?.join()).toContain("Where only the rate counts, 256 calls a thread do 790 calls/s");
  });

  it("the knee of an effect that computes a good deal may lie low: a good part of its best rate is asked for", () => {
    const [first] = follow({ heldMs: 2, waitMs: 10 });
    const rates = [
      [1, 70],
      [4, 200],
      [16, 360],
      [64, 437],
    ] as const;
    const curve = rates.map(([callsPerThread, throughput]) => {
      return { ...first!, setting: { ...ALONE, callsPerThread }, throughput };
    });
    expect(recommend(curve, SURROUNDINGS)?.advice.callsPerThread).toBe(16);
  });

  it("nothing is recommended under which calls begin to fail", () => {
    const { advice, notes } = advised({ heldMs: 0.01, waitMs: 20, inFlightMax: 8 });
    expect(advice).toMatchObject({ maxThreads: 1, callsPerThread: 4 });
    expect(notes).toMatchInlineSnapshot(`
      [
        "With 16 calls at a time on 1 thread, 50 % of the calls failed (Error: made up), so nothing like it is recommended.",
      ]
    `);
  });

  it("calls that fail whatever the setting are told", () => {
    expect(advised({ heldMs: 5, waitMs: 0, flaky: 0.02 }).notes).toContain(
      "80 calls failed, the first with: Error: made up",
    );
  });

  it("threads that are slow to start are kept", () => {
    const { advice, notes } = advised({ heldMs: 5, waitMs: 0, openMs: 900 });
    expect(advice).toMatchObject({ minThreads: 2, maxThreads: 2 });
    expect(notes).toContain(
      "minThreads keeps all of them, because a thread takes 900 ms to start and load the module.",
    );
  });

  it("an effect that blocks: threads, more than there are processors if need be", () => {
    const { advice, reason, notes } = advised({ heldMs: 20, waitMs: 0, cpuMs: 0.1 });
    expect(advice).toMatchObject({ maxThreads: 2, callsPerThread: 1 });
    expect(reason).toContain("blocks its thread");
    expect(notes.join(" ")).toContain("--max-threads");
  });

  it("an effect that computes elsewhere is told of the threads it really works on", () => {
    expect(advised({ heldMs: 0.1, waitMs: 50, cpuMs: 48 }).notes.join(" ")).toContain("UV_THREADPOOL_SIZE");
  });

  it("packets: larger ones only where they do better by more than chance", () => {
    const short = { heldMs: 0.001, waitMs: 0.09, processors: 1 };
    const gain = (factor: number) => (packetCalls: number) => (packetCalls === 256 ? factor : 1);
    expect(advised({ ...short, packetGain: gain(1.3) }).advice.packet.maxCalls).toBe(256);
    expect(advised({ ...short, packetGain: gain(1.05) }).advice.packet.maxCalls).toBe(64);
    expect(advised(short).reason).toContain("less than it costs to hand it over");
  });

  it("is that of the settings there are, also when the plan was cut short", () => {
    const measured = follow({ heldMs: 5, waitMs: 0 });
    expect(recommend(measured.slice(0, 1), SURROUNDINGS)?.advice).toMatchObject({
      maxThreads: 1,
      callsPerThread: 1,
    });
    expect(recommend([], SURROUNDINGS)).toBeUndefined();
  });

  it("is nothing when nothing completed", () => {
    const [only] = follow({ heldMs: 5, waitMs: 0 });
    const nothing = { ...only!, completed: 0, failed: 10, throughput: 0 };
    expect(recommend([nothing], SURROUNDINGS)).toBeUndefined();
  });
});
