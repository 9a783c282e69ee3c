// Room for an environment, asked for before LMDB makes one: lmdb-js 3.5.6 does not survive that its lock file, or the first pages of
// its data, do not fit on the disk: it takes the process down. What is there already may be opened on a full disk: LMDB refuses the
// commits, with an error.

import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HeddleError } from "../../errors.js";

/** A lock file of 64 KiB and tables of 36 KiB, and something over. */
const ROOM_BYTES = 256 * 1024;

/** Throws STORAGE_FAILED where an environment is to be made at `path` and does not fit. */
export function checkFirstRoom(path: string): void {
  if (existsSync(join(path, "lock.mdb"))) return;
  const probe = join(path, "opening.room");
  try {
    mkdirSync(path, { recursive: true });
    writeFileSync(probe, Buffer.alloc(ROOM_BYTES));
  } catch (cause) {
    throw new HeddleError(
      "STORAGE_FAILED",
      `${path} cannot be made: there is no room for it. Make room on the disk.`,
      {
        cause,
        details: { path },
      },
    );
  } finally {
    rmSync(probe, { force: true });
  }
}
