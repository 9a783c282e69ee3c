// Manifest: the package.json of an installed package, which anybody may have written in any way.

import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** Its value; undefined when the directory has none, and an empty object when it is not JSON. */
export async function readManifest(dir: string): Promise<unknown> {
  const text = await readFile(join(dir, "package.json"), "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text.replace(/^\uFEFF/, "")); // some begin with a byte order mark
  } catch {
    return {};
  }
}
