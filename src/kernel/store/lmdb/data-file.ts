// The data file of an environment, judged before LMDB is given it: lmdb-js 3.5.6 does not survive being told to open a
// file for reading that is empty, cut short, or none of LMDB's: it takes the process down.

import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { HeddleError } from "../../errors.js";

/** Both of the first two pages begin with a header and this number; the first also holds the size of a page. */
const MAGIC = 0xbeef_c0de;
const MAGIC_AT = 24;
const PAGE_SIZE_AT = 48;
/** Of the last page a transaction used, and of the transaction, in each of the two pages. */
const LAST_PAGE_AT = 144;
const TRANSACTION_AT = 152;
const HEAD_BYTES = 160;

/**
 * Whether there is something to read at `path`. False also while the first owner is just making the file. Throws
 * STORAGE_FAILED when the file is damaged or none of LMDB's.
 */
export function hasDataFile(path: string): boolean {
  const file = join(path, "data.mdb");
  let head: Buffer;
  let isWhole: boolean;
  try {
    const fd = openSync(file, "r");
    try {
      head = bytesAt(fd, 0);
      if (head.length === 0) return false;
      isWhole = isComplete(fd, head);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw new HeddleError("STORAGE_FAILED", `${file} cannot be read. Check its permissions.`, {
      cause: error,
    });
  }
  if (isWhole) return true;
  throw new HeddleError(
    "STORAGE_FAILED",
    `${file} is damaged or cut short, or is no LMDB file. Restore the directory from a copy.`,
  );
}

/** Whether both meta pages are there, and every page that the newer of them counts. */
function isComplete(fd: number, head: Buffer): boolean {
  const pageSize = numberAt(head, PAGE_SIZE_AT);
  const other = hasMagic(head) ? bytesAt(fd, pageSize) : head;
  if (!hasMagic(other)) return false;
  const newer = longAt(other, TRANSACTION_AT) > longAt(head, TRANSACTION_AT) ? other : head;
  return BigInt(fstatSync(fd).size) >= (longAt(newer, LAST_PAGE_AT) + 1n) * BigInt(pageSize);
}

function bytesAt(fd: number, position: number): Buffer {
  const bytes = Buffer.alloc(HEAD_BYTES);
  return bytes.subarray(0, readSync(fd, bytes, 0, HEAD_BYTES, position));
}

function hasMagic(page: Buffer): boolean {
  return page.length === HEAD_BYTES && numberAt(page, MAGIC_AT) === MAGIC;
}

/** LMDB files are written in the byte order of the machine. */
function numberAt(page: Buffer, offset: number): number {
  return new DataView(page.buffer, page.byteOffset).getUint32(offset, IS_LITTLE_ENDIAN);
}

function longAt(page: Buffer, offset: number): bigint {
  return new DataView(page.buffer, page.byteOffset).getBigUint64(offset, IS_LITTLE_ENDIAN);
}

const IS_LITTLE_ENDIAN = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;
