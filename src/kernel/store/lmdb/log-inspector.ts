// LogInspector: a directory of ours as a person wants to look into it, damaged or not, beside its owner or after it.
//
// Owns       nothing. It never takes ownership, and makes no file or directory.
// Leaves     opening and closing to environment.ts: every call here is one view of one partition, within one turn.
//
// I1  What cannot be decoded takes the place of its own row and hides no other.
// I2  Records are walked by where they begin, because the length of an unreadable one is not known.

import { HeddleError } from "../../errors.js";
import { ID_BYTES_MAX, partitionOf } from "../../ids.js";
import type { FiledStatus } from "../../status.js";
import { decodeHeader, decodeRecord } from "../record.js";
import type { ExecutionHeader, LogRecord } from "../spi.js";
import { hasDataFile } from "./data-file.js";
import { partitionPath, readDirectory } from "./directory.js";
import { viewPath } from "./environment.js";
import { headerKey, idKey, keyFromBytes, keyOfHeader, logKey, STATUSES, sequenceOfLog } from "./keys.js";
import type { Tables } from "./lmdb-rows.js";

/** Where an execution is kept. */
export interface ExecutionPlace {
  readonly id: string;
  readonly partition: number;
  readonly key: number;
}

export type StoredRecord =
  | { readonly kind: "record"; readonly sequence: number; readonly record: LogRecord }
  | { readonly kind: "unreadable"; readonly sequence: number; readonly error: HeddleError };

export type StoredHeader =
  | { readonly kind: "header"; readonly key: number; readonly header: ExecutionHeader }
  | {
      readonly kind: "unreadable";
      readonly key: number;
      readonly status: FiledStatus;
      readonly error: HeddleError;
    };

const SEQUENCE_MAX = 0xffff_ffff;

export class LogInspector {
  readonly directory: string;
  readonly partitions: number;

  /** Throws DIRECTORY_UNKNOWN or FORMAT_UNSUPPORTED. */
  constructor(directory: string) {
    const info = readDirectory(directory);
    if (!info) {
      throw new HeddleError("DIRECTORY_UNKNOWN", `There is no heddle log in ${directory}.`, {
        details: { directory },
      });
    }
    this.directory = directory;
    this.partitions = info.partitions;
  }

  find(id: string): ExecutionPlace | undefined {
    if (!mayBeId(id)) return undefined;
    const partition = partitionOf(id, this.partitions);
    const bytes = this.#view(partition, ({ id: ids }) => ids.getBinary(idKey(id)));
    return bytes && { id, partition, key: keyFromBytes(bytes) };
  }

  /** Ids that begin with `prefix`, in byte order, at most `limit` of each partition. */
  idsFrom(prefix: string, limit: number): string[] {
    if (!mayBeId(prefix)) return [];
    const first = idKey(prefix);
    return this.#everywhere(({ id: ids }) => {
      const found: string[] = [];
      for (const bytes of ids.getKeys({ start: first, limit }) as Iterable<Uint8Array>) {
        const key = Buffer.from(bytes);
        if (!key.subarray(0, first.length).equals(first)) break;
        found.push(key.toString());
      }
      return found;
    });
  }

  /** The id behind a key, from a look at every id: for whoever must name an execution whose header is gone. */
  idOf(partition: number, key: number): string | undefined {
    return this.#view(partition, ({ id: ids }) => {
      for (const { key: id, value } of ids.getRange()) {
        if (keyFromBytes(value) === key) return Buffer.from(id).toString();
      }
      return undefined;
    });
  }

  header({ partition, key }: ExecutionPlace): StoredHeader | undefined {
    return this.#view(partition, ({ header: headers }) => {
      for (const status of STATUSES) {
        const bytes = headers.getBinary(headerKey(status, key));
        if (bytes) return storedHeader(status, key, bytes);
      }
      return undefined;
    });
  }

  /**
   * Headers of any of these statuses with a key under `before`, newest first. A page has about `limit` of them or more;
   * an empty one is the end.
   */
  headers(
    partition: number,
    statuses: readonly FiledStatus[],
    before: number,
    limit: number,
  ): StoredHeader[] {
    if (before <= 0) return [];
    const page = this.#view(partition, ({ header: headers }) => {
      // A status that was cut off says nothing about keys below its last one: the page ends at the highest of those.
      let floor = 0;
      const merged = statuses.flatMap((status) => {
        const start = headerKey(status, Math.min(before - 1, Number.MAX_SAFE_INTEGER));
        const down = { start, end: headerKey(status, 0), inclusiveEnd: true, reverse: true, limit };
        const filed = [...headers.getRange(down)].map(({ key, value }) => {
          return storedHeader(status, keyOfHeader(key), value);
        });
        if (filed.length === limit) floor = Math.max(floor, filed[limit - 1]!.key);
        return filed;
      });
      return merged.filter(({ key }) => key >= floor).sort((a, b) => b.key - a.key);
    });
    return page ?? [];
  }

  /** Where the record begins that holds this sequence, or would. */
  beginning({ partition, key }: ExecutionPlace, sequence: number): number {
    const found = this.#view(partition, ({ log }) => {
      for (const at of log.getKeys(downFrom(key, sequence))) return sequenceOfLog(at);
      return undefined;
    });
    return found ?? sequence;
  }

  /** The records that begin at `start` or later, in order. (I2) */
  records({ partition, key }: ExecutionPlace, start: number, limit: number): StoredRecord[] {
    if (start > SEQUENCE_MAX) return [];
    const range = { start: logKey(key, start), end: logKey(key + 1, 0), limit };
    const page = this.#view(partition, ({ log }) => {
      return [...log.getRange(range)].map(({ key: at, value }) => storedRecord(sequenceOfLog(at), value));
    });
    return page ?? [];
  }

  lastRecord({ partition, key }: ExecutionPlace): StoredRecord | undefined {
    return this.#view(partition, ({ log }) => {
      for (const { key: at, value } of log.getRange(downFrom(key, SEQUENCE_MAX)))
        return storedRecord(sequenceOfLog(at), value);
      return undefined;
    });
  }

  #everywhere<T>(use: (tables: Tables) => readonly T[]): T[] {
    const found: T[] = [];
    for (let partition = 0; partition < this.partitions; partition++) {
      found.push(...(this.#view(partition, use) ?? []));
    }
    return found;
  }

  #view<T>(partition: number, use: (tables: Tables) => T): T | undefined {
    const path = partitionPath(this.directory, partition);
    return hasDataFile(path) ? viewPath(path, ({ tables }) => use(tables)) : undefined;
  }
}

/** The last record that begins at `sequence` or before. */
function downFrom(key: number, sequence: number) {
  const start = logKey(key, Math.min(sequence, SEQUENCE_MAX));
  return { start, end: logKey(key, 0), inclusiveEnd: true, reverse: true, limit: 1 };
}

/** LMDB refuses to look for a key over its limit, and for an empty one. */
function mayBeId(text: string): boolean {
  return text !== "" && Buffer.byteLength(text) <= ID_BYTES_MAX;
}

function storedRecord(sequence: number, bytes: Uint8Array): StoredRecord {
  try {
    return { kind: "record", sequence, record: decodeRecord(sequence, bytes) };
  } catch (error) {
    return { kind: "unreadable", sequence, error: asUnreadable(error) };
  }
}

function storedHeader(status: FiledStatus, key: number, bytes: Uint8Array): StoredHeader {
  try {
    return { kind: "header", key, header: decodeHeader(status, key, bytes) };
  } catch (error) {
    return { kind: "unreadable", key, status, error: asUnreadable(error) };
  }
}

/** I1: anything else is trouble with the store, not with a row of it. */
function asUnreadable(error: unknown): HeddleError {
  if (error instanceof HeddleError && error.code === "RECORD_UNREADABLE") return error;
  throw error;
}
