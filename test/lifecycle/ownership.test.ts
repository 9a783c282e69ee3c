// C-LOG-04 at the runtime: one living owner a directory, whoever asks and in whatever state the owner is; and directories
// of another format.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { type LoomApp, PartitionLockedError } from "../../src/index.js";
import { type Child, startChild } from "../crash/child.js";
import { flow, openApp, outcomeOf, step, temporaryDirectory, within } from "./world.js";

const counted = flow("counted", (ctx, input) =>
  ctx.run(
    step("work", (n) => n),
    input,
  ),
);

function startOwner(dir: string): Child {
  const owner = startChild(new URL("./programs/busy-owner.mjs", import.meta.url), { args: [dir] });
  onTestFinished(async () => {
    owner.kill("SIGKILL");
    await owner.ended;
  });
  return owner;
}

const ended = (owner: Child): string[] =>
  owner.lines.filter((line) => line.startsWith("ended ")).map((line) => line.slice("ended ".length));

/** Waits until the owner has finished something that it has not finished by now. */
async function progress(owner: Child): Promise<void> {
  const seen = new Set(owner.lines);
  await within(
    owner.line((line) => line.startsWith("ended ") && !seen.has(line)),
    "the owner goes on",
  );
}

async function refusal(app: LoomApp): Promise<PartitionLockedError> {
  const begun = performance.now();
  const error: unknown = await app.start().catch((reason: unknown) => reason);
  expect(performance.now() - begun, "milliseconds until the refusal").toBeLessThan(500);
  expect(error).toBeInstanceOf(PartitionLockedError);
  return error as PartitionLockedError;
}

describe("C-LOG-04: two processes on one directory under load", () => {
  it("refuses the second quickly and by name, also while the owner is stopped; opens at once when it was killed", async () => {
    const dir = temporaryDirectory();
    const owner = startOwner(dir);
    await owner.line((line) => line === "open");
    await progress(owner);

    const app = openApp({ dir, flows: [counted], autostart: false });
    const error = await refusal(app);
    expect(error).toMatchObject({
      code: "PARTITION_LOCKED",
      retryable: true,
      details: { owner: { pid: owner.pid } },
    });
    expect(error.message).toMatch(new RegExp(`owned by process ${owner.pid} .*Stop that process`));
    expect(await outcomeOf(app.runtime.start(counted, 1))).toBe("PARTITION_LOCKED");
    await progress(owner);

    const other = startOwner(dir);
    expect((await within(other.ended, "a second process ends")).code).toBe(3);
    expect(JSON.parse(other.lines[0]!.slice("refused ".length))).toMatchObject({
      code: "PARTITION_LOCKED",
      owner: owner.pid,
    });
    await progress(owner);

    owner.kill("SIGSTOP");
    expect((await refusal(app)).details["owner"]).toMatchObject({ pid: owner.pid });
    // Reading needs no ownership.
    expect((await app.runtime.list({ limit: 10_000 })).length).toBeGreaterThan(0);
    owner.kill("SIGCONT");
    await progress(owner);

    owner.kill("SIGSTOP");
    owner.kill("SIGKILL");
    await owner.ended;
    await within(app.start(), "the same app opens once the owner is dead", 1_000);
    const started = owner.lines
      .filter((line) => line.startsWith("started "))
      .map((line) => line.slice("started ".length));
    expect(started.length).toBeGreaterThan(3);
    for (const id of started)
      expect((await within(app.runtime.handle(id).waitForCompletion(), id)).status).toBe("completed");
    for (const id of ended(owner)) {
      const events = await app.stores.eventStore.read(id);
      expect(events.map(({ type }) => type)).toEqual([
        "EXECUTION_STARTED",
        "STEP_STARTED",
        "STEP_COMPLETED",
        "EXECUTION_COMPLETED",
      ]);
    }
  });

  it("gives a new directory to one of several that make it at once", async () => {
    const dir = join(temporaryDirectory(), "deep", "down");
    const rivals = Array.from({ length: 3 }, () => startOwner(dir));
    await Promise.all(
      rivals.map((rival) => rival.line((line) => line === "open" || line.startsWith("refused"))),
    );
    const owners = rivals.filter(({ lines }) => lines[0] === "open");
    expect(owners).toHaveLength(1);
    for (const { lines } of rivals) {
      if (lines[0] !== "open") expect(lines[0]).toContain(`"owner":${owners[0]!.pid}`);
    }
    await progress(owners[0]!);
  });
});

describe("C-LOG-04: two apps on one directory in one process", () => {
  it("refuses the second, harms the first not at all, and lets the second in after the first closed", async () => {
    const dir = temporaryDirectory();
    const first = openApp({ dir, flows: [counted] });
    await first.start();
    const second = openApp({ dir, flows: [counted], autostart: false });
    expect((await refusal(second)).details["owner"]).toMatchObject({ pid: process.pid });
    expect(await within((await first.runtime.start(counted, 1)).result(), "the first goes on")).toBe(1);
    await first.close();
    await within(second.start(), "the second opens");
    expect(await within((await second.runtime.start(counted, 2)).result(), "the second works")).toBe(2);
  });

  it("frees the directory also when an opening failed half-way", async () => {
    const dir = temporaryDirectory();
    const first = openApp({ dir, flows: [counted] });
    await first.start();
    for (let i = 0; i < 20; i++) {
      const second = openApp({ dir, flows: [counted] });
      await refusal(second);
      await second.close();
    }
    await first.close();
    await within(openApp({ dir, flows: [counted] }).start(), "the directory opens");
  });
});

describe("C-LOG-04: directories of another format", () => {
  it.each([
    ["newer", 1, /Install a newer heddle/],
    ["older", -1, /knows both formats to upgrade/],
  ] as const)("refuses a %s one before it writes anything", async (_name, step, advice) => {
    const dir = temporaryDirectory();
    const app = openApp({ dir, flows: [counted] });
    await within((await app.runtime.start(counted, 1, { executionId: "x" })).result(), "result");
    await app.close();
    const file = join(dir, "heddle.json");
    const info = JSON.parse(readFileSync(file, "utf8")) as { format: number };
    writeFileSync(file, JSON.stringify({ ...info, format: info.format + step }));
    const before = readFileSync(join(dir, "p000", "data.mdb"));
    const refused = (): unknown => openApp({ dir, flows: [counted] });
    expect(refused).toThrow(expect.objectContaining({ code: "FORMAT_UNSUPPORTED" }));
    expect(refused).toThrow(advice);
    expect(readFileSync(join(dir, "p000", "data.mdb")).equals(before)).toBe(true);
    writeFileSync(file, JSON.stringify(info));
    expect(
      (
        await openApp({ dir, flows: [counted] })
          .runtime.handle("x")
          .getState()
      ).status,
    ).toBe("completed");
  });
});
