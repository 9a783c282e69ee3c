// C-EFF-05, and what a large result costs: memory, of the whole process and of each side, sampled while the work is done by a host
// in a process of its own, its log flushed, its pool a real thread.

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../partitions/world.js";

const MEGABYTE = 1024 * 1024;
const HOST = fileURLToPath(new URL("./programs/memory-host.mjs", import.meta.url));

interface Cost {
  readonly output: { readonly size: number; readonly digest?: { readonly threadPeak: number } };
  /** Bytes that were read back. */
  readonly bytes: number;
  readonly isRight: boolean;
  /** Above what each had after the same with little. */
  readonly processPeak: number;
  readonly hostPeak: number;
}

async function costOf(what: "stream" | "inline" | "pooled", megabytes: number): Promise<Cost> {
  const { stdout } = await promisify(execFile)(process.execPath, [
    "--expose-gc",
    HOST,
    temporaryDirectory(),
    what,
    String(megabytes),
  ]);
  return JSON.parse(stdout) as Cost;
}

describe("200 MB streamed from a thread of the pool", () => {
  it("raise the memory of the thread and of the host by at most 32 MB each", {
    timeout: 120_000,
  }, async () => {
    const cost = await costOf("stream", 200);
    expect(cost).toMatchObject({ bytes: 200 * MEGABYTE, isRight: true, output: { size: 200 * MEGABYTE } });
    expect(cost.output.digest?.threadPeak).toBeLessThan(32 * MEGABYTE);
    expect(cost.hostPeak).toBeLessThan(32 * MEGABYTE);
    // Both of them, and what the system keeps beside: 24 to 29 MB where it was measured.
    expect(cost.processPeak).toBeLessThan(2 * 32 * MEGABYTE);
  });
});

describe("C-EFF-05: 50 MB in and 50 MB out, beside a healthy sibling", () => {
  // The value itself, which the effect changes in place, and what is under way.
  it("inline are in memory once", { timeout: 60_000 }, async () => {
    const cost = await costOf("inline", 50);
    expect(cost).toMatchObject({ bytes: 50 * MEGABYTE, isRight: true });
    expect(cost.processPeak).toBeLessThan(1.6 * 50 * MEGABYTE);
  });

  // Once on each side, and on its way from one to the other.
  it("through the pool are in memory once on each side, and once on their way", {
    timeout: 60_000,
  }, async () => {
    const cost = await costOf("pooled", 50);
    expect(cost).toMatchObject({ bytes: 50 * MEGABYTE, isRight: true });
    expect(cost.hostPeak).toBeLessThan(1.6 * 50 * MEGABYTE);
    expect(cost.processPeak).toBeLessThan(4.5 * 50 * MEGABYTE);
  });
});
