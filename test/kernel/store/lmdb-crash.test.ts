// Goal: whenever a process dies, every batch is in the log whole or not at all, and those it said were durable are
// there (C2, C3 of the crash matrix).
// Method: each batch appends one record to every execution of a set and takes several milliseconds to write; a child
// writes batches and is killed at a moment the round picks.

import { describe, expect, it } from "vitest";
import { LmdbEventStore } from "../../../src/kernel/store/index.js";
import { startChild } from "./child-process.js";
import { temporaryDirectory } from "./temporary-directory.js";

const ROUNDS = 15;
const MEMBERS = 150;

async function writeUntilKilled(
  dir: string,
  sync: string,
  round: number,
): Promise<{ epoch: string; acknowledged: number }> {
  const child = startChild("batch-writer.ts", [dir, String(MEMBERS), sync]);
  let line = await child.line();
  for (let count = 0; count < round % 7; count++) line = await child.line();
  // Some way into the batch that is being written now: turns of the event loop, whose length nobody knows.
  for (let turn = 0; turn < (round * 37) % 200; turn++) await new Promise((resolve) => setImmediate(resolve));
  child.kill("SIGKILL");
  // What it had said before it died counts.
  for (;;) {
    const next = await child.line().catch(() => undefined);
    if (next === undefined) break;
    line = next;
  }
  await child.ended();
  const [epoch = "", batch = ""] = line.split(" ");
  return { epoch, acknowledged: Number(batch) };
}

async function checkLogs(dir: string, epoch: string, acknowledged: number): Promise<void> {
  const reader = new LmdbEventStore({ dir, now: Date.now, createdBy: "heddle test", create: false });
  const logs = await Promise.all(
    Array.from({ length: MEMBERS }, (_, index) => reader.read(`${epoch}-${index}`)),
  );
  await reader.close();
  const batches = logs[0]!.length;
  expect(batches).toBeGreaterThan(acknowledged);
  // One more may have been committed when the process died before it could say so.
  expect(batches).toBeLessThanOrEqual(acknowledged + 2);
  for (const log of logs) {
    expect(log.length).toBe(batches);
    expect(log.slice(1).map(({ payload }) => (payload as { batch: number }).batch)).toEqual(
      Array.from({ length: batches - 1 }, (_, index) => index + 1),
    );
  }
}

describe("a process that is killed while it commits", () => {
  for (const sync of ["flush", "commit"]) {
    const title = `leaves each batch whole or absent, in ${ROUNDS} rounds with sync: ${sync}`;
    it.concurrent(title, { timeout: 240_000 }, async () => {
      const { dir, remove } = temporaryDirectory();
      for (let round = 0; round < ROUNDS; round++) {
        const { epoch, acknowledged } = await writeUntilKilled(dir, sync, round);
        await checkLogs(dir, epoch, acknowledged);
      }
      remove();
    });
  }
});
