// Room for an environment, asked for before LMDB makes one: lmdb-js 3.5.6 does not survive that its lock file, or the first pages of
// its data, do not fit on the disk: it takes the process down. What is there already may be opened on a full disk: LMDB refuses the
// commits, with an error.

import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HeddleError } from "../../errors.js";

/** A lock file of 64 KiB and tables of 36 KiB, and something over. */
const ROOM_BYTES = 256 * 1024;
/** The disk, a quota, or the limit of the process for the size of files. */
const NO_ROOM: readonly unknown[] = ["ENOSPC", "EDQUOT", "EFBIG"];

/** Throws STORAGE_FAILED where an environment is to be made in the directory `path` and does not fit. */
export function checkFirstRoom(path: string): void {
  if (existsSync(join(path, "lock.mdb"))) return;
  const probe = join(path, "opening.room");
  try {
    writeFileSync(probe, Buffer.alloc(ROOM_BYTES));
  } catch (cause) {
    if (!NO_ROOM.includes((cause as NodeJS.ErrnoException).code)) return; // the opening says what else is wrong
    throw new HeddleError(
      "STORAGE_FAILED",
      `${path} cannot be made: there is no room for it. Make room on the disk.`,
      { cause, details: { path } },
    );
  } finally {
    rmSync(probe, { force: true });
  }
}
