// Goal: nobody ever sees LMDB's reader table full, whoever died while reading.
// Method: far more processes are killed while they hold an iterator than the table has slots.

import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LmdbEventStore } from "../../../src/kernel/store/index.js";
import { ScriptedExecution } from "../../../src/testing/scripted-execution.js";
import { startChild } from "./child-process.js";
import { type TemporaryDirectory, temporaryDirectory } from "./temporary-directory.js";

const SLOTS = 24;
const KILLED = 200;
const AT_ONCE = 4;

let temporary: TemporaryDirectory;
beforeEach(() => {
  temporary = temporaryDirectory();
});
afterEach(() => temporary.remove());

describe("reader slots (C-LOG-03)", () => {
  it(`outlast ${KILLED} processes killed while reading, with ${SLOTS} slots`, {
    timeout: 180_000,
  }, async () => {
    const options = { dir: temporary.dir, now: Date.now, createdBy: "heddle test", maxReaders: SLOTS };
    const owner = new LmdbEventStore(options);
    const log = await owner.open(0);
    const executions = Array.from({ length: 50 }, (_, key) => new ScriptedExecution(key));
    await log.commit({ executions: executions.map((execution) => execution.start()) });

    const path = join(temporary.dir, "p000");
    let started = 0;
    const killOneAfterTheOther = async (): Promise<void> => {
      while (started++ < KILLED) {
        const child = startChild("holder.mjs", [path]);
        expect(await child.line()).toBe("holding");
        child.kill("SIGKILL");
        await child.ended();
        await log.commit({ executions: [executions[0]!.advance(1)] });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, killOneAfterTheOther));

    // Normal running: the owner, fifty subscribers of the log, and readers of other objects and processes.
    const seen = executions.map(() => [] as number[]);
    const done = executions.map(
      ({ id }, index) =>
        new Promise<void>((resolve) => {
          owner.subscribe(
            id,
            ({ sequence, type }) => {
              seen[index]!.push(sequence);
              if (type === "EXECUTION_COMPLETED") resolve();
            },
            { from: 0 },
          );
        }),
    );
    const reader = new LmdbEventStore({ ...options, create: false });
    for (let pass = 0; pass < 20; pass++) {
      await log.commit({ executions: executions.map((execution) => execution.advance(1)) });
      expect((await reader.list()).length).toBe(50);
    }
    await log.commit({ executions: executions.map((execution) => execution.complete()) });
    await Promise.all(done);
    for (const [index, { length }] of executions.entries()) {
      expect(seen[index]).toEqual(Array.from({ length }, (_, sequence) => sequence));
    }
    const child = startChild("holder.mjs", [path]);
    expect(await child.line()).toBe("holding");
    child.kill("SIGKILL");
    await child.ended();
    await reader.close();
    await owner.close();
  });

  it("are not used up by a reader that stays, or by many at once", async () => {
    const options = { dir: temporary.dir, now: Date.now, createdBy: "heddle test", maxReaders: 4 };
    const owner = new LmdbEventStore(options);
    const log = await owner.open(0);
    await log.commit({ executions: [new ScriptedExecution(0, "a").start()] });
    const readers = Array.from({ length: 40 }, () => new LmdbEventStore(options));
    for (let round = 0; round < 3; round++) {
      expect(await Promise.all(readers.map(async (reader) => (await reader.read("a")).length))).toEqual(
        readers.map(() => 1),
      );
    }
    await Promise.all(readers.map((reader) => reader.close()));
    await owner.close();
  });
});
