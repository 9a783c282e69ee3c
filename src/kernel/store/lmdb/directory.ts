// Directory: the file `heddle.json`, which says what a directory of ours is before anything else in it is touched.
//
// D1  It is written once, whole, before the first partition is made; of two processes that make a directory at once,
//     one writes it and the other reads it.
// D2  A format this version does not know is refused before the first write.
// D3  The number of partitions is fixed when the directory is made: it decides where an id is looked for.

import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { HeddleError } from "../../errors.js";

/** The format of directories this version reads and writes. */
export const DIRECTORY_FORMAT = 1;
const FILE = "heddle.json";
const PARTITIONS_MAX = 999;

export interface DirectoryInfo {
  readonly format: number;
  readonly partitions: number;
  /** "heddle x.y.z" */
  readonly createdBy: string;
  /** ISO 8601. */
  readonly createdAt: string;
}

export function partitionPath(directory: string, partition: number): string {
  return join(directory, `p${String(partition).padStart(3, "0")}`);
}

/** What the directory says of itself; `undefined` when there is no log in it. */
export function readDirectory(directory: string): DirectoryInfo | undefined {
  let text: string;
  try {
    text = readFileSync(join(directory, FILE), "utf8");
  } catch (error) {
    if (
      (error as NodeJS.ErrnoException).code === "ENOENT" ||
      (error as NodeJS.ErrnoException).code === "ENOTDIR"
    ) {
      return undefined;
    }
    throw new HeddleError("STORAGE_FAILED", `${join(directory, FILE)} cannot be read.`, { cause: error });
  }
  return parseDirectory(directory, text);
}

/** Makes the directory unless it is there. Returns what it says of itself. */
export function createDirectory(directory: string, wanted: Omit<DirectoryInfo, "format">): DirectoryInfo {
  const found = readDirectory(directory);
  if (found) return found;
  const info: DirectoryInfo = { format: DIRECTORY_FORMAT, ...wanted };
  try {
    const made = mkdirSync(directory, { recursive: true });
    writeOnce(directory, `${JSON.stringify(info, undefined, 2)}\n`);
    syncDirectory(directory);
    if (made !== undefined) syncDirectory(dirname(made));
  } catch (error) {
    throw new HeddleError("STORAGE_FAILED", `${directory} cannot be made into a heddle log.`, {
      cause: error,
    });
  }
  return readDirectory(directory) ?? info; // D1: the file that is there counts, whoever wrote it.
}

export function createPartition(directory: string, partition: number): string {
  const path = partitionPath(directory, partition);
  if (mkdirSync(path, { recursive: true }) !== undefined) syncDirectory(directory);
  return path;
}

export function checkPartitionCount(partitions: number): void {
  if (Number.isInteger(partitions) && partitions >= 1 && partitions <= PARTITIONS_MAX) return;
  throw new HeddleError(
    "CONFIG_INVALID",
    `partitions is ${partitions}; it must be a whole number from 1 to ${PARTITIONS_MAX}.`,
  );
}

function parseDirectory(directory: string, text: string): DirectoryInfo {
  let info: Partial<DirectoryInfo>;
  try {
    info = JSON.parse(text) as Partial<DirectoryInfo>;
  } catch (cause) {
    throw unsupported(
      directory,
      "holds no readable format number. Restore heddle.json from a copy of the directory",
      { cause },
    );
  }
  const { format, partitions, createdBy = "an unknown version", createdAt = "" } = info ?? {};
  if (typeof format !== "number" || !Number.isInteger(format)) {
    throw unsupported(
      directory,
      "holds no format number. Restore heddle.json from a copy of the directory",
      {},
    );
  }
  if (format > DIRECTORY_FORMAT) {
    const advice = `it was made by ${createdBy} and may since have been upgraded. Install a newer heddle to open it`;
    throw unsupported(
      directory,
      `has format ${format} and this heddle knows formats up to ${DIRECTORY_FORMAT}; ${advice}`,
      { format },
    );
  }
  if (format < DIRECTORY_FORMAT) {
    const advice = `it was made by ${createdBy}. Open it once with a heddle that knows both formats to upgrade it`;
    throw unsupported(
      directory,
      `has format ${format} and this heddle no longer knows formats before ${DIRECTORY_FORMAT}; ${advice}`,
      { format },
    );
  }
  if (typeof partitions !== "number") {
    throw unsupported(
      directory,
      "does not say how many partitions it has. Restore heddle.json from a copy of the directory",
      {},
    );
  }
  checkPartitionCount(partitions);
  return { format, partitions, createdBy, createdAt };
}

function unsupported(
  directory: string,
  complaint: string,
  { cause, format }: { cause?: unknown; format?: number },
) {
  return new HeddleError("FORMAT_UNSUPPORTED", `${directory} ${complaint}. Nothing was changed.`, {
    ...(cause !== undefined && { cause }),
    details: { directory, known: DIRECTORY_FORMAT, ...(format !== undefined && { format }) },
  });
}

/** Writes the file whole and durably, unless there is one already. */
function writeOnce(directory: string, text: string): void {
  const aside = mkdtempSync(join(directory, ".making-"));
  try {
    const temporary = join(aside, FILE);
    const fd = openSync(temporary, "w");
    try {
      writeSync(fd, text);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    publish(temporary, join(directory, FILE));
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}

/** A link is refused when the name is taken; a rename would replace what another process just wrote. (D1) */
function publish(temporary: string, file: string): void {
  try {
    linkSync(temporary, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") renameSync(temporary, file); // A file system without links.
  }
}

/** Makes names in a directory durable. Windows neither needs it nor allows it. */
function syncDirectory(directory: string): void {
  if (process.platform === "win32") return;
  const fd = openSync(directory, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
