// Goal: bytes that nobody wrote harm nobody: no decoder crashes, hangs, asks for memory out of proportion, or throws what callers cannot
// tell from a bug.
// Method: golden bytes, changed a little, thousands of times each; for longer by `npm run fuzz -- --minutes 30`. A finding is shrunk, and
// its seed printed: FUZZ_SEED=... tries it again.

import fc from "fast-check";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { mutants } from "./mutations.js";
import { TARGETS, type Target } from "./targets.js";

const MINUTES = Number(process.env["FUZZ_MINUTES"] ?? 0);
const SEED = process.env["FUZZ_SEED"];
const ROUNDS = 5_000;
/** Milliseconds one input may take, on a machine that does other things as well. */
const TIME_MAX = 1_000;
/** Bytes that one input may leave on the heap, or set aside outside of it. */
const MEMORY_MAX = 64 * 2 ** 20;

const budgetMs = (MINUTES * 60_000) / Object.keys(TARGETS).length;

const memory = (): number => {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

/** Throws for an input that is a finding. */
async function check({ codes, decode }: Target, input: Buffer): Promise<void> {
  const held = memory();
  const before = performance.now();
  try {
    await decode(input);
  } catch (error) {
    const { code } = error as { readonly code?: string };
    if (code === undefined || !codes.includes(code))
      throw new Error(`${input.toString("hex")} was answered with ${String(error)}`, { cause: error });
  }
  const took = Math.round(performance.now() - before);
  if (took > TIME_MAX) throw new Error(`${input.toString("hex")} took ${took} ms`);
  const grown = memory() - held;
  if (grown > MEMORY_MAX) throw new Error(`${input.toString("hex")} took ${grown} bytes`);
}

beforeAll(() => {
  // The grammar of the command line complains by itself.
  for (const stream of [process.stdout, process.stderr]) vi.spyOn(stream, "write").mockReturnValue(true);
});

describe("bytes that nobody wrote", () => {
  it.each(Object.entries(TARGETS))(
    "%s",
    async (_, target) => {
      const property = fc.asyncProperty(mutants(target.seeds), (input) => check(target, input));
      await fc.assert(property, {
        numRuns: MINUTES > 0 ? Number.MAX_SAFE_INTEGER : Math.ceil(ROUNDS * (target.share ?? 1)),
        ...(MINUTES > 0 && { interruptAfterTimeLimit: budgetMs }),
        ...(SEED !== undefined && { seed: Number(SEED) }),
      });
    },
    Math.max(60_000, budgetMs * 2),
  );

  it("is made of bytes that are good as they are", async () => {
    for (const target of Object.values(TARGETS)) {
      for (const seed of target.seeds) await target.decode(seed);
    }
    expect(Object.values(TARGETS).every(({ seeds }) => seeds.length > 0)).toBe(true);
  });
});
