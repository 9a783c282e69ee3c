// Ownership: who may write to a partition. See docs/adr/0002-ownership-lock.md.
//
// O1  A partition has at most one owner on this machine. The operating system holds the lock for the life of the open
//     file: a stopped owner keeps it, a killed one has lost it by the time its death can be noticed.
// O2  A refusal is immediate and names the owner. The name is read from the lock file, not from LMDB, so that no state
//     the owner was stopped in can make a refusal wait.

import { closeSync, constants, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { HeddleError, PartitionLockedError } from "../../errors.js";

export interface OwnerName {
  readonly pid: number;
  readonly host: string;
  readonly since: number;
}

export interface OwnershipLock {
  readonly owner: OwnerName;
  release(): void;
}

/**
 * A byte far behind anything the file holds. Where locks are mandatory (Windows) others can still read who the owner
 * is; where they cover whole files (macOS) it makes no difference.
 */
const LOCKED_BYTE = 2 ** 30;

export async function acquireOwnership(path: string, since: number): Promise<OwnershipLock> {
  const { tryLock } = await loadLocks();
  const file = lockFile(path);
  const fd = openSync(file, constants.O_RDWR | constants.O_CREAT, 0o644);
  try {
    if (!tryLock(fd, LOCKED_BYTE, 1)) throw new PartitionLockedError(path, ownerOf(path));
    const owner = { pid: process.pid, host: hostname(), since };
    ftruncateSync(fd, 0);
    writeSync(fd, `${JSON.stringify(owner)}\n`, 0);
    return { owner, release: () => closeSync(fd) };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

const lockFile = (path: string): string => join(path, "owner.lock");

/** Who owns the partition, or did last. `undefined` for the instant between an owner's first lock and its name. */
export function ownerOf(path: string): OwnerName | undefined {
  try {
    const owner = JSON.parse(readFileSync(lockFile(path), "utf8")) as Partial<OwnerName>;
    const { pid, host, since } = owner;
    if (typeof pid !== "number" || typeof host !== "string" || typeof since !== "number") return undefined;
    return { pid, host, since };
  } catch {
    return undefined;
  }
}

/** Loaded when first needed: programs that keep their log in memory run where there is no such lock. */
async function loadLocks(): Promise<typeof import("fs-native-extensions")> {
  try {
    return await import("fs-native-extensions");
  } catch (cause) {
    throw new HeddleError(
      "STORAGE_FAILED",
      `There is no file lock for ${process.platform} ${process.arch} here, so a directory cannot be owned safely. ` +
        "Install fs-native-extensions with its prebuilt files, or keep the log in memory.",
      { cause },
    );
  }
}
