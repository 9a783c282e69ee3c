// Goal: what keeps a system from answering is counted for everybody who came meanwhile, and not only for the one it happened to.

import { describe, expect, it } from "vitest";
import { openLoad } from "../../bench/harness/open-load.js";

const STALL_MS = 60;

describe("an open load", () => {
  it("counts a stall for all who were to arrive in it, from when they were to", async () => {
    const { latenciesMs, receipts } = await openLoad(
      async (n) => {
        const end = performance.now() + (n === 0 ? STALL_MS : 0);
        while (performance.now() < end);
        return { ok: true, n };
      },
      { perSecond: 1_000, executions: 100 },
    );
    expect(receipts.map(({ n }) => n)).toEqual(Array.from({ length: 100 }, (_, n) => n));
    // One a millisecond: whoever comes later has to wait for what is left of it.
    for (let n = 0; n < STALL_MS; n += 10) expect(latenciesMs[n]).toBeGreaterThan(STALL_MS - n - 1);
  });

  it("starts nobody early", async () => {
    const began = performance.now();
    const startedMs: number[] = [];
    await openLoad(
      async (n) => {
        startedMs[n] = performance.now() - began;
        return { ok: true, n };
      },
      { perSecond: 500, executions: 20 },
    );
    for (const [n, atMs] of startedMs.entries()) expect(atMs).toBeGreaterThanOrEqual(2 * n);
  });
});
