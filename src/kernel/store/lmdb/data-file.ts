// The data file of an environment, judged before LMDB is given it: lmdb-js 3.5.6 does not survive being told to open a
// file for reading that is empty or is none of LMDB's, it takes the process down.

import { closeSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { HeddleError } from "../../errors.js";

/** Both of the first two pages begin with a header and this number; the first also holds the size of a page. */
const MAGIC = 0xbeef_c0de;
const MAGIC_AT = 24;
const PAGE_SIZE_AT = 48;
const HEAD_BYTES = 52;

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
      isWhole = hasMagic(head) && hasMagic(bytesAt(fd, numberAt(head, PAGE_SIZE_AT)));
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
    `${file} is damaged at its beginning, or is no LMDB file. Restore the directory from a copy.`,
  );
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

const IS_LITTLE_ENDIAN = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;
