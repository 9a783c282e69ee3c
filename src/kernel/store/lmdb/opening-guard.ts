// OpeningGuard: keeps the opening of an environment apart from commits into it.
//
// LMDB lets whoever opens an environment, readers too, write the number of the last transaction into memory it shares
// with the writer. It has read that number a moment before; a commit in between is taken back by it, and the next
// transaction overwrites what was acknowledged (OpenLDAP ITS#9496; seen within a second with lmdb-js 3.5.6). So:
//
// G1  A commit holds the lock alone, from before its first operation until LMDB has answered for all of it.
// G2  An opening shares the lock with other openings. It lasts milliseconds.
// G3  Whoever waits for an opening holds the turn meanwhile, and one commit in eight takes the turn before the lock: a
//     busy owner lets readers in. (A lock is a system call, and a commit is too short to make many.)
// G4  The operating system gives the lock back when a process dies. A reader that is stopped in the middle of opening
//     holds up the owner's commits until it goes on or is ended: waiting loses nothing, going ahead may. Past an owner
//     that is stopped in the middle of a commit a reader does go ahead: what is stopped commits nothing.

import { closeSync, constants, openSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { HeddleError } from "../../errors.js";
import { type OwnerName, ownerOf } from "./ownership.js";

type Locks = typeof import("fs-native-extensions");

const require = createRequire(import.meta.url);
// Loaded by the first opening, like lmdb itself. Kept here: to ask `require` again costs as much as the locks do.
let loaded: Locks | undefined;
const locks = (): Locks => {
  loaded ??= require("fs-native-extensions") as Locks;
  return loaded;
};

const lockOf = (path: string): string => join(path, "opening.lock");
const turnOf = (path: string): string => join(path, "opening.turn");

/** The owner's side: held around everything that writes. */
export class OpeningGuard {
  readonly #lock: number;
  readonly #turn: number;
  #commits = 0;
  #isClosed = false;

  constructor(path: string) {
    const flags = constants.O_RDWR | constants.O_CREAT;
    this.#lock = openSync(lockOf(path), flags, 0o644);
    this.#turn = openSync(turnOf(path), flags, 0o644);
  }

  /** Resolves when it may be written; undefined when that is at once, as nearly always. */
  enter(): Promise<void> | undefined {
    const { tryLock } = locks();
    if (this.#commits++ % COMMITS_A_TURN !== 0) return tryLock(this.#lock) ? undefined : this.#enterInTurn();
    if (!tryLock(this.#turn)) return this.#enterInTurn();
    const isIn = tryLock(this.#lock);
    locks().unlock(this.#turn);
    return isIn ? undefined : this.#enterInTurn();
  }

  async #enterInTurn(): Promise<void> {
    await take(this.#turn); // G3
    await take(this.#lock); // G1
    locks().unlock(this.#turn);
  }

  leave(): void {
    locks().unlock(this.#lock);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    closeSync(this.#lock);
    closeSync(this.#turn);
  }
}

const COMMITS_A_TURN = 8;

// Not the waiting call of the library: it ends the process when a thread is terminated while it waits.
async function take(fd: number): Promise<void> {
  while (!locks().tryLock(fd)) await delay(PAUSE_MS);
}

/** A reader's side: runs `open` while no commit is under way. Reading is synchronous, and so is this wait (G2). */
export function whileNoCommit<T>(path: string, open: () => T): T {
  return sharing(path, turnOf(path), (leaveTurn) =>
    sharing(path, lockOf(path), () => {
      leaveTurn();
      return open();
    }),
  );
}

const PAUSE_MS = 1;
/** How often it is asked whether the owner is stopped, and how long anything else is waited for, in pauses. */
const PAUSES_TO_ASK = 100;
const PAUSES_MAX = 10_000;

function sharing<T>(path: string, file: string, use: (leave: () => void) => T): T {
  const fd = openExisting(file);
  if (fd === undefined) return use(() => {}); // no owner of this version was ever here
  let isHeld = true;
  const leave = (): void => {
    if (isHeld) closeSync(fd); // gives the lock back
    isHeld = false;
  };
  try {
    const { tryLock } = locks();
    for (let pause = 1; !tryLock(fd, { shared: true }); pause++) {
      if (pause % PAUSES_TO_ASK === 0 && isStopped(ownerOf(path))) break; // G4
      if (pause === PAUSES_MAX) {
        throw new HeddleError(
          "STORAGE_FAILED",
          `${path} is in the middle of a commit that does not end. Try again.`,
        );
      }
      Atomics.wait(neverNotified, 0, 0, PAUSE_MS);
    }
    return use(leave);
  } finally {
    leave();
  }
}

/** Whether a process of this machine is stopped, by signal or debugger. Only Linux says so. */
function isStopped(owner: OwnerName | undefined): boolean {
  if (owner?.host !== hostname()) return false;
  try {
    const stat = readFileSync(`/proc/${owner.pid}/stat`, "latin1");
    return /^[Tt]/.test(stat.slice(stat.lastIndexOf(")") + 2)); // proc(5): the state follows the name
  } catch {
    return false;
  }
}

const neverNotified = new Int32Array(new SharedArrayBuffer(4));

function openExisting(file: string): number | undefined {
  try {
    return openSync(file, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
