// C-LOG-02 with a disk that is really full: the operating system limits the size of files, and lifts the limit later.

import { expect, it } from "vitest";
import { liftFileLimit, startChild } from "../crash/child.js";
import { openApp, temporaryDirectory } from "./world.js";

interface Report {
  readonly acknowledged: { readonly starts: string[]; readonly resumes: string[]; readonly ends: string[] };
  readonly refused: { readonly starts: string[]; readonly resumes: string[]; readonly waits: string[] };
  readonly codes: string[];
  readonly storageErrors: number;
  readonly cpuMs: number;
  readonly effectsMeanwhile: number;
  readonly unhandled: string[];
}

const EIGHT_MEGABYTES = "ulimit -S -f 16384"; // in blocks of 512 bytes
const WAIT_MS = 4_000;

it.skipIf(process.platform !== "linux")(
  "C-LOG-02: a full disk refuses with a type, loses nothing acknowledged, and work goes on once there is room",
  { timeout: 60_000 },
  async () => {
    const dir = temporaryDirectory();
    const child = startChild(new URL("./programs/disk-full.mjs", import.meta.url), {
      args: [dir, String(WAIT_MS)],
      before: EIGHT_MEGABYTES,
    });
    const full = JSON.parse(await child.line((line) => line.includes("cpuMs"))) as Report;
    expect(full.acknowledged.ends.length).toBeGreaterThan(0);
    expect(full.refused.starts.length + full.refused.waits.length).toBeGreaterThan(3);
    expect(full.codes).toEqual(["STORAGE_FAILED true"]);
    expect(full.storageErrors).toBeGreaterThan(0);
    expect(full.cpuMs, `milliseconds of CPU in ${WAIT_MS}`).toBeLessThan(WAIT_MS * 0.25);
    // Small writes still fit, so recovery begins; its effects must not run over and over because their results do not.
    expect(full.effectsMeanwhile).toBeLessThanOrEqual(12);

    expect(liftFileLimit(child.pid)).toBe(true);
    child.kill("SIGUSR2");
    const { code } = await child.ended;
    const after = JSON.parse(child.lines.at(-1)!) as Report;
    expect({ code, unhandled: after.unhandled }).toEqual({ code: 7, unhandled: [] });
    const { starts, resumes, ends } = after.acknowledged;
    expect(starts.length).toBe(full.acknowledged.starts.length + 3);
    expect(ends.toSorted()).toEqual(starts.map((id) => `${id} completed`).toSorted());

    const { runtime, stores } = openApp({ dir, autostart: false });
    const found = await runtime.list({ limit: 1_000 });
    expect(found.map(({ id }) => id).toSorted()).toEqual(starts.toSorted());
    expect(new Set(found.map(({ status }) => status))).toEqual(new Set(["completed"]));
    for (const id of resumes) {
      const events = await stores.eventStore.read(id);
      expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, i) => i));
      expect(events.filter(({ type }) => type === "go")).toHaveLength(1);
      expect(events.at(-1)?.payload).toEqual({ output: { word: id, length: 2_000_000 } });
    }
  },
);

it.skipIf(process.platform !== "linux")(
  "C-LOG-02: a directory that does not fit on the disk is refused with a type, and the process lives",
  { timeout: 30_000 },
  async () => {
    const dir = temporaryDirectory();
    const child = startChild(new URL("./programs/first-opening.mjs", import.meta.url), {
      args: [dir],
      before: "ulimit -S -f 64", // 32 KiB: less than the lock file of LMDB
    });
    expect(await child.ended).toMatchObject({ code: 0, stderr: "" });
    expect(child.lines).toEqual(["STORAGE_FAILED", "closed"]);
    const app = openApp({ dir });
    await app.start();
    await app.close();
  },
);
