// Written: what a process sends to the disk, as the kernel counts it: whole pages, in each commit those it dirtied. LMDB writes pages
// whole and copies what it changes, so this is several times the bytes of the events.

import { readFileSync } from "node:fs";

/** Bytes since this process began. Nothing where the system does not count them: only Linux does, and not in memory (tmpfs). */
export function writtenBytes(): number | undefined {
  if (process.platform !== "linux") return undefined;
  const bytes = /^write_bytes: (\d+)$/m.exec(readFileSync("/proc/self/io", "latin1"))?.[1];
  return bytes === undefined ? undefined : Number(bytes);
}
