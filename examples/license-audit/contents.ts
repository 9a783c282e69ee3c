// Contents: what a package really consists of, counted and hashed. Files are streamed through one small buffer, so a
// package of any size costs the same memory.

import { createHash } from "node:crypto";
import { type FileHandle, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { StepHandlerContext } from "heddle";
import { z } from "zod";
import { findLicense, LicenseFinding } from "./license.js";
import type { Package } from "./scan.js";

export const Contents = z.object({
  files: z.number(),
  bytes: z.number(),
  /** Of the list of its files, one line each: sha-256, size, path. */
  sha256: z.string(),
  license: LicenseFinding,
});
export type Contents = z.infer<typeof Contents>;

const BUFFER_BYTES = 128 * 1024;

/** Not part of the package itself: packages below it have executions of their own. */
const LEFT_OUT = new Set(["node_modules", ".git"]);

/** The body of the step `read`. */
export async function readContents(
  { dir }: Package,
  { signal }: Pick<StepHandlerContext, "signal">,
): Promise<Contents> {
  const buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  const all = createHash("sha256");
  let files = 0;
  let bytes = 0;
  for await (const path of filesOf(dir)) {
    const file = await hashFile(join(dir, path), buffer, signal);
    all.update(`${file.sha256} ${file.bytes} ${path}\n`);
    files++;
    bytes += file.bytes;
  }
  return { files, bytes, sha256: all.digest("hex"), license: await findLicense(dir) };
}

/** Paths of all regular files, in an order that is the same everywhere. Links are not followed: they may lead out. */
async function* filesOf(dir: string, prefix = ""): AsyncGenerator<string> {
  const entries = await readdir(join(dir, prefix), { withFileTypes: true });
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    if (entry.isFile()) yield prefix + entry.name;
    else if (entry.isDirectory() && !(prefix === "" && LEFT_OUT.has(entry.name))) {
      yield* filesOf(dir, `${prefix}${entry.name}/`);
    }
  }
}

async function hashFile(
  path: string,
  buffer: Buffer,
  signal: AbortSignal,
): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash("sha256");
  let bytes = 0;
  let file: FileHandle | undefined;
  try {
    file = await open(path);
    for (;;) {
      signal.throwIfAborted();
      const { bytesRead } = await file.read(buffer, 0, buffer.length);
      if (bytesRead === 0) break;
      hash.update(buffer.subarray(0, bytesRead));
      bytes += bytesRead;
    }
  } finally {
    await file?.close();
  }
  return { bytes, sha256: hash.digest("hex") };
}
