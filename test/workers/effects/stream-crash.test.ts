// C5 for streams: the process is killed by SIGKILL while a result comes in from the pool. At the next opening what was stored of it
// is gone, the attempt runs again under the same key, and its result is whole.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig, lmdbStorage } from "heddle";
import { expect, it, onTestFinished } from "vitest";
import { contentRows } from "../../support/content-rows.js";
import { marksIn, temporaryDirectory, until, within } from "../partitions/world.js";
import { claimCheck, single } from "./programs/streams.mjs";

const MODULE = new URL("./programs/streams.mjs", import.meta.url);
const HOST = fileURLToPath(new URL("./programs/stream-host.mjs", import.meta.url));
const CHUNK_BYTES = 65_520;

it("a kill while a result is streamed leaves nothing of it, and the attempt is made again", {
  timeout: 60_000,
}, async () => {
  const dir = temporaryDirectory();
  const file = join(temporaryDirectory(), "marks");
  const pieces = (): number => marksIn(file).filter((line) => line === "piece").length;
  const child = spawn(process.execPath, [HOST, dir, file], { stdio: "inherit" });
  const exit = once(child, "exit");
  await until(() => pieces() > 100, "the stream flows");
  child.kill("SIGKILL");
  await exit;
  const before = await contentRows(dir);
  expect(before).toMatchObject({ staged: 1 });
  expect(before["chunks"]).toBeGreaterThan(16);

  const app = defineConfig({
    storage: lmdbStorage({ dir }),
    flows: [single],
    execution: { claimCheck },
    workers: { effects: { module: MODULE, maxThreads: 1 } },
  });
  onTestFinished(() => app.close({ deadlineMs: 0 }));
  const { result } = (await within(app.runtime.handle("killed").result(), "the result", 30_000)) as {
    result: unknown;
  };
  expect(result).toMatchObject({ size: 30_000_000, digest: { given: 30_000_000 } });
  expect(marksIn(file).filter((line) => line.startsWith("begin"))).toEqual(["begin 1", "begin 2"]);
  await app.close();
  expect(await contentRows(dir)).toEqual({
    contents: 1,
    chunks: Math.ceil(30_000_000 / CHUNK_BYTES),
    citations: 1,
  });
});
