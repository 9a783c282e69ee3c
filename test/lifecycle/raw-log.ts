// RawLog: a partition's tables as LMDB has them, for tests that damage what heddle wrote. Only while nobody has it open.

import { join } from "node:path";
import { type Database, open } from "lmdb";
import { headerKey, idKey, keyFromBytes, logKey, STATUSES } from "../../src/kernel/store/lmdb/keys.js";

const BINARY = { encoding: "binary", keyEncoding: "binary" } as const;
type Table = Database<Uint8Array, Uint8Array>;

export class RawLog {
  readonly #root;
  readonly #ids: Table;
  readonly #headers: Table;
  readonly #log: Table;
  readonly #snapshots: Table;

  constructor(dir: string) {
    this.#root = open({ path: join(dir, "p000"), maxDbs: 24, noSync: true, ...BINARY });
    this.#ids = this.#root.openDB("id", BINARY);
    this.#headers = this.#root.openDB("header", BINARY);
    this.#log = this.#root.openDB("log", BINARY);
    this.#snapshots = this.#root.openDB("snapshot", BINARY);
  }

  /** Puts what `change` makes of an execution's record in its place; `undefined` removes it. */
  async changeRecord(
    id: string,
    sequence: number,
    change: (bytes: Buffer) => Uint8Array | undefined,
  ): Promise<void> {
    const key = logKey(this.#keyOf(id), sequence);
    await this.#replace(this.#log, key, change);
  }

  async changeHeader(id: string, change: (bytes: Buffer) => Uint8Array | undefined): Promise<void> {
    const key = this.#keyOf(id);
    for (const status of STATUSES) {
      const at = headerKey(status, key);
      if (this.#headers.getBinary(at)) return this.#replace(this.#headers, at, change);
    }
    throw new Error(`${id} has no header`);
  }

  changeSnapshot(id: string, change: (bytes: Buffer) => Uint8Array): Promise<void> {
    return this.#replace(this.#snapshots, idKey(id), change);
  }

  close(): Promise<void> {
    return this.#root.close();
  }

  #keyOf(id: string): number {
    const bytes = this.#ids.getBinary(idKey(id));
    if (!bytes) throw new Error(`there is no ${id}`);
    return keyFromBytes(bytes);
  }

  async #replace(
    table: Table,
    key: Uint8Array,
    change: (bytes: Buffer) => Uint8Array | undefined,
  ): Promise<void> {
    const bytes = table.getBinary(key);
    if (!bytes) throw new Error("there is nothing to change");
    const changed = change(Buffer.from(bytes));
    await (changed ? table.put(key, changed) : table.remove(key));
  }
}
