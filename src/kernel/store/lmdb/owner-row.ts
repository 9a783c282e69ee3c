// The row of the owner: the epoch of a partition, counted up by every opening and durable before anything else is
// written. Nothing checks it on this machine, where the lock does; it is what a replicated log will fence with.

import { packRecord, unpackRecord } from "../../codec/index.js";
import { HeddleError } from "../../errors.js";
import type { Owner } from "../spi.js";
import { viewEnvironment } from "./environment.js";
import { OWNER_KEY } from "./keys.js";
import type { Tables } from "./lmdb-rows.js";
import type { OwnerName } from "./ownership.js";
import type { Writer } from "./writer.js";

/** Writes the new owner, one epoch after the last. Returns the epoch. */
export async function takeEpoch(writer: Writer, owner: OwnerName): Promise<number> {
  const epoch = viewEnvironment(writer.environment, ({ tables }) => (readOwnerRow(tables)?.epoch ?? 0) + 1);
  await writer.write(() => putOwner(writer, epoch, owner));
  return epoch;
}

/** Only within a write. */
export function putOwner({ environment }: Writer, epoch: number, { pid, host, since }: OwnerName): void {
  void environment.tables.owner.put(OWNER_KEY, packRecord([epoch, pid, host, since]));
}

export function readOwnerRow(tables: Tables): Owner | undefined {
  const bytes = tables.owner.getBinary(OWNER_KEY);
  if (!bytes) return undefined;
  const stored = unpackRecord(bytes);
  const [epoch, pid, host, since]: readonly unknown[] = Array.isArray(stored)
    ? (stored as readonly unknown[])
    : [];
  if (
    typeof epoch !== "number" ||
    typeof pid !== "number" ||
    typeof host !== "string" ||
    typeof since !== "number"
  ) {
    throw new HeddleError("RECORD_UNREADABLE", "The row of the partition's owner cannot be read.");
  }
  return { epoch, pid, host, since };
}
