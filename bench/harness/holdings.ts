// Holdings: what a closed log really has on disk, read by LMDB alone. A fast side that wrote less would look good.

import { open } from "lmdb";
import { Packr } from "msgpackr";
import { z } from "zod";
import type { Place } from "./side.js";

export interface Holdings {
  readonly records: number;
  readonly headers: number;
  /** Write transactions since the environment was made. */
  readonly commits: number;
}

// lmdb-js types its statistics as `{}`.
const Stats = z.object({ entryCount: z.number(), lastTxnId: z.number() });
const packr = new Packr({ useRecords: false });
const BINARY = { encoding: "binary", keyEncoding: "binary" } as const;

/** Goes through all rows of both tables and decodes the records; returns how many there were. */
export async function readAll({ path, records, headers }: Place): Promise<number> {
  const environment = open({ path, readOnly: true, ...BINARY });
  try {
    let read = 0;
    for (const table of [headers, records]) {
      for (const { value } of environment.openDB<Uint8Array, Uint8Array>(table, BINARY).getRange()) {
        packr.unpack(value);
        if (table === records) read++;
      }
    }
    return read;
  } finally {
    await environment.close();
  }
}

export async function holdingsOf({ path, records, headers }: Place): Promise<Holdings> {
  const environment = open({ path, readOnly: true, ...BINARY });
  try {
    const recordStats = Stats.parse(environment.openDB(records, BINARY).getStats());
    const headerStats = Stats.parse(environment.openDB(headers, BINARY).getStats());
    return {
      records: recordStats.entryCount,
      headers: headerStats.entryCount,
      commits: recordStats.lastTxnId,
    };
  } finally {
    await environment.close();
  }
}
