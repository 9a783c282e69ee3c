import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LmdbEventStore } from "../../../src/kernel/store/index.js";
import { ScriptedExecution } from "../../../src/testing/scripted-execution.js";
import { startChild } from "./child-process.js";
import { type TemporaryDirectory, temporaryDirectory } from "./temporary-directory.js";

let temporary: TemporaryDirectory;
beforeEach(() => {
  temporary = temporaryDirectory();
});
afterEach(() => temporary.remove());

describe("C-LOG-04: readers beside the owner", () => {
  // Goal: what was acknowledged is there although other processes open the directory all the time. Method: commit for as
  // long as two children need for two thousand openings each, then read everything back. Without the guard of opening-guard.ts
  // this loses commits within a second.
  it("lose it no commit by opening the directory, and are not kept out by it", async () => {
    const { dir } = temporary;
    const store = new LmdbEventStore({ dir, now: Date.now, createdBy: "heddle test" });
    const log = await store.open(0);
    const execution = new ScriptedExecution(0);
    await log.commit({ executions: [execution.start()] });
    const children = [startChild("opener.ts", [dir]), startChild("opener.ts", [dir])];
    let isOver = false;
    const opened = Promise.all(
      children.map(async (child) => {
        while (Number(await child.line()) < 2000);
      }),
    ).finally(() => {
      isOver = true;
    });
    let acknowledged = 1;
    while (!isOver) {
      await log.commit({ executions: [execution.advance(1)] });
      acknowledged++;
    }
    await opened;
    for (const child of children) child.kill("SIGKILL");
    await Promise.all(children.map((child) => child.ended()));
    const sequences = (await store.read(execution.id)).map(({ sequence }) => sequence);
    expect(acknowledged).toBeGreaterThan(100);
    expect(sequences).toEqual(Array.from({ length: acknowledged }, (_, sequence) => sequence));
    await store.close();
  }, 60_000);
});
