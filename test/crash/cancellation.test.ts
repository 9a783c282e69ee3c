// Goal: a cancel that is durable is carried out whatever becomes of the process: the flow hears of it once and its cleanup is done.
// Method: a real host cancels an execution and kills itself with SIGKILL at the n-th event that is durable after the request,
// for every n there is; a second one finds what it left behind. (C-SUS-06, C-LIF-01)

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig, lmdbStorage } from "heddle";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryDirectory } from "../support/temporary-directory.js";
import { startChild } from "./child.js";
import { cleanupFlow } from "./programs/cleanup-host.mjs";

const HOST = new URL("./programs/cleanup-host.mjs", import.meta.url);
/** From the request to the end, both included. */
const EVENTS = 16;

describe("killed between the request of a cancel and the end of the cleanup", () => {
  it.each(Array.from({ length: EVENTS }, (_, n) => n))("after %i further events", async (count) => {
    const root = temporaryDirectory();
    const [dir, file] = [join(root, "log"), join(root, "marks")];
    const child = startChild(HOST, { args: [dir, file, String(count)] });
    expect(await child.ended).toMatchObject({ signal: "SIGKILL" });

    const app = defineConfig({
      storage: lmdbStorage({ dir, sync: "commit" }),
      flows: [cleanupFlow(file)],
      autostart: false,
    });
    onTestFinished(() => app.close());
    // Before anything is taken up: what this process completes may have begun in the one that died, and runs again.
    const before = await app.stores.eventStore.read("x");
    await app.start();
    const state = await app.runtime.handle("x").waitForCompletion();
    expect(state).toMatchObject({ status: "cancelled", reason: "enough" });
    expect(state).not.toHaveProperty("error");
    const events = await app.stores.eventStore.read("x");
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index));
    const types = events.map(({ type }) => type);
    expect(types.filter((type) => type.includes("CANCEL"))).toEqual([
      "CANCEL_REQUESTED",
      "EXECUTION_CANCELLED",
    ]);
    const completed = events.filter(({ type }) => type === "STEP_COMPLETED");
    expect(completed.map(({ payload }) => (payload as { stepId: string }).stepId).sort()).toEqual(
      [1, 2, 3, 4].map((n) => `undo#${n}`),
    );
    const marks = readFileSync(file, "utf8").split("\n").filter(Boolean);
    expect(marks.filter((mark) => mark === "slow")).toHaveLength(1);
    for (const { payload } of before.filter(({ type }) => type === "STEP_COMPLETED")) {
      const { stepId } = payload as { stepId: string };
      expect(
        marks.filter((mark) => mark === stepId),
        `${stepId} was durable, and did not run again`,
      ).toHaveLength(1);
    }
  });
});
