// Goal: no side gets a good figure for work it did not do. Method: sides that cheat, each in one way.

import { describe, expect, it } from "vitest";
import { rateSampler } from "../../bench/harness/rate.js";
import type { Side } from "../../bench/harness/side.js";
import { heddle } from "../../bench/sides/heddle.js";
import { limit } from "../../bench/sides/limit.js";

const workload = { executions: 30, inFlight: 10, steps: 2, unitsEach: 1 };
const honest = limit({ steps: 2, sync: "commit" });

async function sample(side: Side, inFlight = workload.inFlight) {
  const take = await rateSampler(side, { ...workload, inFlight });
  return take();
}

/** The honest baseline, except for what is replaced of its sessions. */
function cheating(replace: (session: Awaited<ReturnType<Side["open"]>>) => object): Side {
  return {
    name: "cheat",
    async open(directory) {
      const session = await honest.open(directory);
      return { ...session, ...replace(session) };
    },
  };
}

describe("a sample of a rate", () => {
  it.each([
    ["heddle, flush", heddle({ steps: 2, sync: "flush" })],
    ["heddle, commit", heddle({ steps: 2, sync: "commit" })],
    ["limit, flush", limit({ steps: 2, sync: "flush" })],
    ["limit, commit", honest],
  ])("finds all executions on disk, one record for each step and one more: %s", async (_name, side) => {
    const { durationMs, latenciesMs, sharedBy } = await sample(side);
    expect(durationMs).toBeGreaterThan(0);
    expect(latenciesMs.every((latencyMs) => latencyMs > 0)).toBe(true);
    expect(sharedBy).toBeGreaterThan(1);
  });

  it.each([
    ["heddle", heddle({ steps: 2, sync: "commit" })],
    ["limit", honest],
  ])("counts three commits for each execution that runs alone: %s", async (_name, side) => {
    expect((await sample(side, 1)).sharedBy).toBe(1);
  });

  it("is refused when records are missing", async () => {
    await expect(sample(limit({ steps: 1, sync: "commit" }))).rejects.toThrow(
      "limit left 60 log records on disk where 90 are needed",
    );
  });

  it("is refused when executions are missing", async () => {
    const cheat = cheating(({ run }) => ({
      run: (n: number) => run(n - (n % 2)).then(() => ({ ok: true, n })),
    }));
    await expect(sample(cheat)).rejects.toThrow("cheat");
  });

  it("is refused when an output is not the execution's own", async () => {
    const cheat = cheating(({ run }) => ({ run: (n: number) => run(n).then(() => ({ ok: true, n: 0 })) }));
    await expect(sample(cheat)).rejects.toThrow(
      'cheat returned {"ok":true,"n":0} as the output of execution 1',
    );
  });

  it("is refused when the log gives another output than the execution did", async () => {
    const cheat = cheating(() => ({ recorded: async () => ({ ok: true, n: -1 }) }));
    await expect(sample(cheat)).rejects.toThrow("cheat recorded");
  });
});
