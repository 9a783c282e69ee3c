// Environments: the LMDB environments this thread has open, at most one a path.
//
// Owns       one table of what is open, for the thread.
// Leaves     who may write to ownership.ts, how to write to writer.ts, what the rows mean to lmdb-rows.ts.
//
// E1  A path that is open for writing is read through that same environment.
// E2  Otherwise a path is open for reading for one turn of the event loop. A reader that stayed open would keep a slot
//     of the reader table and stand in the way of the owner: the threads of a process share an environment the way it
//     was first opened, and one that was opened for reading can never be written to.
// E3  Opening for reading creates nothing, save the lock file of a directory that was copied without it.
// E4  lmdb-js is loaded by the first opening, because loading it leaves traces in the process. It is loaded at once
//     (`require`), because surfaces are read without a promise.
// E5  A path that another thread of this process owns stays open for reading for as long as it does (`keepOpen`). That is
//     in nobody's way: it was opened for writing first, and is let go of before its next owner opens it.

import { createRequire } from "node:module";
import { setTimeout as delay } from "node:timers/promises";
import type { RootDatabase, RootDatabaseOptionsWithPath } from "lmdb";
import { HeddleError } from "../../errors.js";
import { hasDataFile } from "./data-file.js";
import { checkFirstRoom } from "./first-room.js";
import { LATER_TABLE_NAMES, LmdbRows, TABLE_NAMES, type Table, type Tables } from "./lmdb-rows.js";
import { type OpeningGuard, whileNoCommit } from "./opening-guard.js";

export interface Environment {
  readonly path: string;
  readonly root: RootDatabase<Uint8Array, Uint8Array>;
  readonly tables: Tables;
  readonly rows: LmdbRows;
}

export interface WriterOptions {
  readonly flush: boolean;
  readonly maxReaders: number;
  /** Whether this thread may be terminated from outside, in the middle of anything. */
  readonly interruptible: boolean;
}

type Opened =
  | { readonly kind: "writer"; readonly environment: Environment }
  /** Without an environment when there are no tables yet: the first owner is just making them. */
  | { readonly kind: "reader"; readonly environment: Environment | undefined; readonly close: () => void };

const opened = new Map<string, Opened>();
/** Paths whose reader stays open. (E5) */
const kept = new Set<string>();

/** Room for tables to come: LMDB fixes their number when it opens an environment. */
const TABLES_MAX = 24;
const BINARY = { encoding: "binary", keyEncoding: "binary" } as const;

const require = createRequire(import.meta.url);
const lmdb = (): typeof import("lmdb") => require("lmdb") as typeof import("lmdb");

/** Making the tables is a commit, so it is guarded like one. */
export async function openForWriting(
  path: string,
  { flush, maxReaders, interruptible }: WriterOptions,
  guard: OpeningGuard,
): Promise<Environment> {
  hasDataFile(path); // throws for what would take the process down, like this:
  checkFirstRoom(path);
  for (let attempt = 1; ; attempt++) {
    closeReader(path);
    await guard.enter();
    try {
      const environment = openEnvironment(path, {
        maxReaders,
        noSync: !flush,
        // A commit is one batch, put together by hand. Batching by event turn makes a promise of its own that nobody
        // can reach, so that a commit that fails would also be an unhandled rejection.
        eventTurnBatching: false,
        // lmdb-js begins to write after a thousand operations, while the rest are still being packed, which is worth a
        // quarter of the rate. A thread that is terminated before the last of them leaves its writer waiting for ever, and
        // with it whoever waits for the thread to end, `process.exit` of the host among them.
        ...(interruptible && { batchStartThreshold: Number.POSITIVE_INFINITY }),
      });
      if (environment === undefined)
        throw new HeddleError("STORAGE_FAILED", `The tables of ${path} were not made.`);
      opened.set(path, { kind: "writer", environment });
      return environment;
    } catch (error) {
      if (attempt === ATTEMPTS || !isOpenForReadingElsewhere(error)) throw cannotOpen(path, error);
    } finally {
      guard.leave();
    }
    await delay(PAUSE_MS);
  }
}

// E2: another thread of this process, or a second copy of this module, reads for a turn; that passes.
const ATTEMPTS = 400;
const PAUSE_MS = 5;
const EINVAL = 22;

/** What lmdb-js says when it was given an environment that cannot be written to. */
function isOpenForReadingElsewhere(error: unknown): boolean {
  return (error as { code?: unknown }).code === EINVAL;
}

export async function closeForWriting({ path, root }: Environment): Promise<void> {
  opened.delete(path);
  await root.close();
}

/** Runs `use` on the rows at `path` as they are now; `undefined` when nothing was ever written there. */
export function viewPath<T>(path: string, use: (environment: Environment) => T): T | undefined {
  const known = opened.get(path);
  if (known?.environment) return viewEnvironment(known.environment, use);
  // E3: lmdb-js would make the directory, and LMDB its lock file.
  if (!hasDataFile(path)) return undefined;
  const { environment } = known ?? openForReading(path);
  return environment && viewEnvironment(environment, use);
}

/** Runs `use`; what LMDB throws comes out as STORAGE_FAILED. */
export function viewEnvironment<T>(environment: Environment, use: (environment: Environment) => T): T {
  const { path, root } = environment;
  try {
    // Commits of another process show up in a new read transaction only.
    if (opened.get(path)?.kind === "reader") root.resetReadTxn();
    return use(environment);
  } catch (error) {
    if (error instanceof HeddleError) throw error;
    throw new HeddleError("STORAGE_FAILED", `${path} cannot be read: ${messageOf(error)}. Try again.`, {
      cause: error,
    });
  }
}

function openForReading(path: string): Opened {
  let environment: Environment | undefined;
  try {
    environment = whileNoCommit(path, () => openEnvironment(path, { readOnly: true }));
  } catch (error) {
    throw cannotOpen(path, error);
  }
  const reader: Opened = {
    kind: "reader",
    environment,
    close: () => {
      if (opened.get(path) !== reader) return;
      opened.delete(path);
      // Without writes to wait for it is closed at once.
      void environment?.root.close();
    },
  };
  opened.set(path, reader);
  setImmediate(() => {
    if (!kept.has(path) || !environment) reader.close(); // E2, E5
  });
  return reader;
}

/** From now on the path stays open once it is read, until `letGo`. Its owner has to have it open for writing. (E5) */
export function keepOpen(path: string): void {
  closeReader(path);
  kept.add(path);
}

/** Ends what `keepOpen` began. */
export function letGo(path: string): void {
  if (kept.delete(path)) closeReader(path);
}

function closeReader(path: string): void {
  const known = opened.get(path);
  if (known?.kind === "reader") known.close();
}

/** The types of lmdb-js have not heard of the last one. */
type EnvironmentOptions = Omit<RootDatabaseOptionsWithPath, "path"> & {
  readonly batchStartThreshold?: number;
};
type Root = RootDatabase<Uint8Array, Uint8Array>;
interface RootClass {
  new (name: null, options: object): Root;
  readonly prototype: Root;
}

/** `undefined` when the environment lacks tables and is not ours to make them. */
function openEnvironment(path: string, options: EnvironmentOptions): Environment | undefined {
  // Also removes the reader slots that killed processes left behind.
  const Root = lmdb().openAsClass({ path, maxDbs: TABLES_MAX, ...options }) as unknown as RootClass;
  let root: Root | undefined;
  try {
    root = new Root(null, { isRoot: true, ...BINARY });
    const tables: Partial<Record<keyof Tables, Table>> = {};
    for (const name of TABLE_NAMES) {
      // The types do not say that a table is not there when it may not be made.
      const table = root.openDB(name, BINARY) as Table | undefined;
      if (!table) {
        void root.close();
        return undefined;
      }
      tables[name] = table;
    }
    for (const name of LATER_TABLE_NAMES) {
      const table = root.openDB(name, BINARY) as Table | undefined;
      if (table) tables[name] = table;
    }
    return { path, root, tables: tables as Tables, rows: new LmdbRows(tables as Tables) };
  } catch (error) {
    // The native environment is open by now, also when there is no database object to close it by.
    if (root) void root.close();
    else void Root.prototype.close.call({ isRoot: true });
    throw error;
  }
}

function cannotOpen(path: string, error: unknown): HeddleError {
  if (error instanceof HeddleError) return error;
  const advice = isOpenForReadingElsewhere(error)
    ? "Another thread of this process holds it open for reading: close that first."
    : "Check the disk and the permissions of the directory.";
  return new HeddleError("STORAGE_FAILED", `${path} cannot be opened: ${messageOf(error)}. ${advice}`, {
    cause: error,
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
