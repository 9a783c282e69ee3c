// Goal: the ratio of a duel is worth more than the ratio of two averages, because both sides of it saw the same machine.
// Method: a machine that halves its speed every round, which would ruin any average.

import { describe, expect, it } from "vitest";
import { duel } from "../../bench/harness/duel.js";

const ROUNDS = 6;
const budget = { timeMs: 0, rounds: ROUNDS, warmupRounds: 1 };

describe("a duel", () => {
  it("takes turns, alternates who is first, and plays as many rounds as it is told", async () => {
    const turns: string[] = [];
    const side = (name: string) => async (n: number) => {
      turns.push(`${name}${n}`);
      return { durationMs: 1 };
    };
    const { rounds } = await duel(side("a"), side("b"), "time", budget);
    expect(rounds).toHaveLength(ROUNDS);
    expect(turns.join(" ")).toBe("a0 b0 b1 a1 a2 b2 b3 a3 a4 b4 b5 a5 a6 b6");
  });

  it("compares within each round, whatever the rounds themselves are like", async () => {
    const slower = (share: number) => async (n: number) => ({ durationMs: share * 2 ** n });
    const time = await duel(slower(3), slower(2), "time", budget);
    expect(time.ratio).toMatchObject({ p50: 1.5, min: 1.5, max: 1.5, samplesCount: ROUNDS });
    const rate = await duel(slower(3), slower(2), "rate", budget);
    expect(rate.ratio.p50).toBeCloseTo(2 / 3, 10);
    expect(rate.ours.latency.max).toBe(3 * 2 ** ROUNDS);
    expect(rate.theirs.throughput.samplesCount).toBe(ROUNDS);
  });

  it("goes on until its time is used up", async () => {
    const slow = async () => {
      const end = performance.now() + 2;
      while (performance.now() < end);
      return { durationMs: 1 };
    };
    const { rounds } = await duel(slow, slow, "time", { timeMs: 40, rounds: 2, warmupRounds: 0 });
    const spentMs = rounds.reduce((sum, { costMs }) => sum + costMs, 0);
    const last = rounds.at(-1)?.costMs ?? 0;
    expect(spentMs).toBeGreaterThanOrEqual(40);
    expect(spentMs - last).toBeLessThan(40);
  });

  it("fails as a whole when a side fails", async () => {
    const fine = async () => ({ durationMs: 1 });
    const broken = async (n: number) => {
      if (n === 3) throw new Error("a side broke");
      return { durationMs: 1 };
    };
    await expect(duel(fine, broken, "time", budget)).rejects.toThrow("a side broke");
  });
});
