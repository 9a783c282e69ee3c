// Content rows: what lies in the table of content of a partition nobody has open, read with nothing of ours.

import { open } from "lmdb";
import { partitionPath } from "../../src/kernel/store/lmdb/directory.js";

const KINDS = ["", "contents", "chunks", "staged", "citations"];

/** How many rows of each kind there are; of a kind without any, nothing. */
export async function contentRows(dir: string, partition = 0): Promise<Record<string, number>> {
  const binary = { encoding: "binary", keyEncoding: "binary" } as const;
  const root = open<Uint8Array, Uint8Array>({
    path: partitionPath(dir, partition),
    readOnly: true,
    maxDbs: 24,
    ...binary,
  });
  const counts: Record<string, number> = {};
  for (const key of root.openDB<Uint8Array, Uint8Array>("content", binary).getKeys()) {
    const kind = KINDS[key[0]!]!;
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  await root.close();
  return counts;
}
