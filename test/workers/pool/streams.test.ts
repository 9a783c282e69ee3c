// The way of a streamed result from a thread to whoever reads it: no faster than it is read, and ended from either side.

import { describe, expect, it } from "vitest";
import { StreamResult } from "../../../src/effects/index.js";
import { callOf, markFile, openPool, until } from "./world.js";

const MODULE = new URL("../effects/programs/streams.mjs", import.meta.url);
const open = () => openPool({ module: MODULE });

async function streamOf(result: unknown): Promise<AsyncIterator<Uint8Array>> {
  if (!(result instanceof StreamResult)) throw new Error("no stream");
  return (result.stream as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
}

describe("a result that comes in pieces", () => {
  it("is produced no further than a window ahead of its reader", async () => {
    const pool = await open();
    const { mark: file, lines } = markFile();
    const reader = await streamOf(await pool.call(callOf("dump", { file, pieces: 1_000 })));
    const produced = (): number => lines().filter((line) => line === "piece").length;
    // A megabyte fits between the two, and one piece of a hundred kilobytes is in the hands of either.
    await until(() => produced() >= 11, "the window is full");
    for (let turn = 0; turn < 50; turn++) await pool.call(callOf("echo", turn)); // the thread has time for more
    expect(produced()).toBeLessThanOrEqual(12);
    for (let read = 0; read < 32; read++) await reader.next();
    await until(() => produced() >= 31, "it goes on");
    expect(produced()).toBeLessThanOrEqual(34);
    await reader.return?.();
    await until(() => lines().includes("let go"), "the stream is let go of");
  });

  it("leaves its thread to others meanwhile, and counts as under way until it ends", async () => {
    const pool = await open();
    const reader = await streamOf(await pool.call(callOf("dump", { pieces: 100 })));
    expect(await pool.call(callOf("echo", "beside"))).toBe("beside");
    expect((await pool.stats()).running).toBe(1);
    while (!(await reader.next()).done);
    expect((await pool.stats()).running).toBe(0);
  });

  it("ends with the pool", async () => {
    const pool = await open();
    const reader = await streamOf(await pool.call(callOf("dump", { pieces: 1_000 })));
    await pool.close({ deadlineMs: 0 });
    await expect(
      (async () => {
        while (!(await reader.next()).done);
      })(),
    ).rejects.toMatchObject({ code: "RUNTIME_CLOSED" });
  });

  it("may be many at once on one thread, each whole", async () => {
    const pool = await open();
    const sizes = await Promise.all(
      Array.from({ length: 20 }, async (_, n) => {
        const reader = await streamOf(await pool.call(callOf("dump", { pieces: n, bytes: 70_000 })));
        let size = 0;
        for (let next = await reader.next(); !next.done; next = await reader.next()) {
          expect(next.value.length).toBeGreaterThan(0);
          size += next.value.length;
        }
        return size;
      }),
    );
    expect(sizes).toEqual(Array.from({ length: 20 }, (_, n) => n * 70_000));
  });
});
