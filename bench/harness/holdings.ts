// Holdings: what a closed log really has on disk, read by LMDB alone. A fast side that wrote less would look good.

import { open } from "lmdb";
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
const BINARY = { encoding: "binary", keyEncoding: "binary" } as const;

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
