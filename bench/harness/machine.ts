// Machine: where the figures come from. A rate without its machine says nothing, a flushed one without its disk neither.

import { closeSync, fdatasyncSync, openSync, statfsSync, writeSync } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism, cpus, loadavg, release, totalmem, type } from "node:os";
import { join } from "node:path";
import { HEDDLE_VERSION } from "heddle";
import { z } from "zod";
import { quantile } from "./quantile.js";
import type { Machine, Report } from "./report.js";
import { freshDirectory, removeDirectory } from "./scratch.js";

export function describeMachine(): Machine {
  const directory = freshDirectory();
  const cores = availableParallelism();
  const machine: Machine = {
    cores,
    model: cpus()[0]?.model.trim() ?? "unknown processor",
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()}`,
    fileSystem: fileSystemOf(directory),
    diskFlushMs: diskFlushMs(directory),
    loadPerCore: (loadavg()[0] ?? 0) / cores,
  };
  removeDirectory(directory);
  return machine;
}

/** Dependencies are pinned, so the manifest says what is installed; neither package lets its own be read. */
export function versions(): Report["versions"] {
  const { dependencies, devDependencies } = Manifest.parse(require("heddle/package.json"));
  return {
    heddle: HEDDLE_VERSION,
    node: process.versions.node,
    lmdb: dependencies.lmdb,
    tinybench: devDependencies.tinybench,
  };
}

const require = createRequire(import.meta.url);
const Manifest = z.object({
  dependencies: z.object({ lmdb: z.string() }),
  devDependencies: z.object({ tinybench: z.string() }),
});

/** The magic numbers of statfs(2) that one meets. */
const FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0xef53, "ext4"],
  [0x5846_5342, "xfs"],
  [0x9123_683e, "btrfs"],
  [0x0102_1994, "tmpfs (memory: a flush costs nothing here)"],
  [0x794c_7630, "overlayfs"],
  [0x2fc1_2fc1, "zfs"],
  [0x1a, "apfs"],
]);

function fileSystemOf(directory: string): string {
  const { type } = statfsSync(directory);
  return FILE_SYSTEMS.get(type) ?? `0x${type.toString(16)}`;
}

function diskFlushMs(directory: string): number {
  const block = Buffer.alloc(4096, 1);
  const file = openSync(join(directory, "probe"), "w");
  const times = new Float64Array(50);
  for (let i = 0; i < times.length; i++) {
    const started = performance.now();
    writeSync(file, block);
    fdatasyncSync(file);
    times[i] = performance.now() - started;
  }
  closeSync(file);
  return quantile([times], 0.5);
}
