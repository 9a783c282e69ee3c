// Place: one directory of a soak, and what is known of it from outside.

import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { defineConfig, type LoomApp, lmdbStorage } from "../../src/index.js";
import { partitionPath } from "../../src/kernel/store/lmdb/directory.js";
import { OutsideWorld } from "../crash/outside-world.js";
import { ACKNOWLEDGED } from "./log-claims.js";

/** One directory, and what is known of it. */
export class Place {
  readonly world: OutsideWorld;
  readonly counter: string;
  /** Executions that were asked for and have not been seen to end. */
  readonly open = new Set<string>();
  readonly ended: string[] = [];
  readonly acknowledged = new Map<string, Set<string>>();
  rounds = 0;
  readonly dir: string;
  readonly partitions: number;
  readonly sync: "flush" | "commit";

  constructor(dir: string, partitions: number, sync: "flush" | "commit") {
    this.dir = dir;
    this.partitions = partitions;
    this.sync = sync;
    this.counter = `${dir}.counter`;
    this.world = new OutsideWorld(this.counter, (stepId) => stepId.startsWith("crunch#"));
  }

  /** Takes note of what a host acknowledged. */
  hear(lines: readonly string[]): void {
    for (const line of lines) {
      const [what = "", id = ""] = line.split(" ");
      if (!(what in ACKNOWLEDGED)) continue;
      const heard = this.acknowledged.get(id) ?? new Set<string>();
      this.acknowledged.set(id, heard.add(what));
    }
  }

  /** A command of the shell that leaves its log so much room to grow. The limit is for every file of a host, and what effects write outside must never lack room. */
  limitedTo(roomKiB: number): string {
    const logs = Array.from({ length: this.partitions }, (_, i) =>
      kiB(join(partitionPath(this.dir, i), "data.mdb")),
    );
    const most = Math.max(Math.max(...logs) + roomKiB, kiB(this.counter) + COUNTER_ROOM_KIB);
    return `ulimit -S -f ${2 * most}`; // in blocks of 512 bytes
  }

  remove(): void {
    rmSync(this.dir, { recursive: true });
    rmSync(this.counter);
  }

  /** Opens the directory the way a program would. */
  async look<T>(use: (app: LoomApp) => Promise<T>): Promise<T> {
    const app = defineConfig({ storage: lmdbStorage({ dir: this.dir }), autostart: false });
    try {
      return await use(app);
    } finally {
      await app.close();
    }
  }
}

/** More than the effects of one round write. */
const COUNTER_ROOM_KIB = 192;

function kiB(file: string): number {
  return Math.ceil((statSync(file, { throwIfNoEntry: false })?.size ?? 0) / 1024);
}
