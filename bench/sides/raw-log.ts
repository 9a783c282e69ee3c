// RawLog: the commits that durable executions need, by LMDB and msgpackr alone.
//
// Owns       one LMDB environment and the batch that is being gathered.
// Leaves     which events there are to limit.ts.
//
// R1  A commit holds, for each execution that moved since the last, one record with all its new events and one header.
// R2  Whatever moves while a commit is under way goes into the next one (group commit).
// R3  `durable` resolves when what was appended before is committed and, with "flush", on the disk.

import { open as openFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Database, open, type RootDatabase } from "lmdb";
import { Packr } from "msgpackr";
import type { Place, Sync } from "../harness/side.js";

export interface RawEvent {
  readonly type: string;
  readonly ts: number;
  readonly [field: string]: unknown;
}

/** The little that is in memory of a running execution. */
export interface RawExecution {
  readonly key: number;
  sequence: number;
  status: "running" | "suspended" | "completed";
  events: RawEvent[];
  waiting: (() => void)[];
}

type Table = Database<Uint8Array, Uint8Array>;

const RECORDS = "log";
const HEADERS = "headers";
const BINARY = { encoding: "binary", keyEncoding: "binary" } as const;
// No shared structures: every record decodes alone.
const packr = new Packr({ useRecords: false });

export class RawLog {
  readonly place: Place;
  readonly #flush: boolean;
  readonly #root: RootDatabase<Uint8Array, Uint8Array>;
  readonly #records: Table;
  readonly #headers: Table;
  #moved: RawExecution[] = [];
  #scheduled = false;
  #committing = false;

  constructor(path: string, sync: Sync) {
    this.place = { path, records: RECORDS, headers: HEADERS };
    this.#flush = sync === "flush";
    this.#root = open<Uint8Array, Uint8Array>({ path, maxDbs: 8, noSync: !this.#flush, ...BINARY });
    this.#records = this.#root.openDB<Uint8Array, Uint8Array>(RECORDS, BINARY);
    this.#headers = this.#root.openDB<Uint8Array, Uint8Array>(HEADERS, BINARY);
  }

  create(key: number): RawExecution {
    return { key, sequence: 0, status: "running", events: [], waiting: [] };
  }

  append(execution: RawExecution, event: RawEvent): void {
    if (execution.events.length === 0) this.#moved.push(execution);
    execution.events.push(event);
    if (this.#scheduled || this.#committing) return; // R2
    this.#scheduled = true;
    setImmediate(() => void this.#commitAll());
  }

  durable(execution: RawExecution): Promise<void> {
    return new Promise((resolve) => execution.waiting.push(resolve));
  }

  /** An execution from its header, as a program that comes back to it would find it. */
  find(key: number): RawExecution {
    const header = this.#headers.getBinary(headerKey(key));
    if (!header) throw new Error(`There is no raw execution ${key}.`);
    const [status, sequence] = packr.unpack(header) as [RawExecution["status"], number];
    return { key, sequence, status, events: [], waiting: [] };
  }

  read(key: number): RawEvent[] {
    const events: RawEvent[] = [];
    for (const { value } of this.#records.getRange({
      start: recordKey(key, 0),
      end: recordKey(key + 1, 0),
    })) {
      events.push(...(packr.unpack(value) as RawEvent[]));
    }
    return events;
  }

  async close(): Promise<void> {
    await this.#root.close();
    const file = await openFile(join(this.place.path, "data.mdb"), "r+");
    await file.sync();
    await file.close();
  }

  async #commitAll(): Promise<void> {
    this.#scheduled = false;
    this.#committing = true;
    while (this.#moved.length > 0) {
      await this.#commit();
      await nextTurn(); // Let everybody who was waiting move, for a full batch.
    }
    this.#committing = false;
  }

  async #commit(): Promise<void> {
    const moved = this.#moved;
    this.#moved = [];
    const waiting: (() => void)[] = [];
    let committed: Promise<unknown> = Promise.resolve();
    for (const execution of moved) {
      const { key, events } = execution;
      void this.#records.put(recordKey(key, execution.sequence), packr.pack(events));
      execution.sequence += events.length;
      const header = packr.pack([execution.status, execution.sequence, "flow"]);
      committed = this.#headers.put(headerKey(key), header); // R1
      waiting.push(...execution.waiting);
      execution.events = [];
      execution.waiting = [];
    }
    // lmdb-js resolves a write at its commit; which flush belongs to it can only be asked before the next write. (R3)
    await (this.#flush ? this.#root.flushed : committed);
    for (const resolve of waiting) resolve();
  }
}

function recordKey(key: number, sequence: number): Buffer {
  const bytes = Buffer.allocUnsafe(12);
  bytes.writeUInt32BE(Math.floor(key / 2 ** 32), 0);
  bytes.writeUInt32BE(key >>> 0, 4);
  bytes.writeUInt32BE(sequence, 8);
  return bytes;
}

function headerKey(key: number): Buffer {
  return recordKey(key, 0).subarray(0, 8);
}
