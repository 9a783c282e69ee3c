// Scratch: the fresh directories of one run.
//
// Owns       one directory under the system's temporary directory (TMPDIR moves it); it is gone when the process ends.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

let root: string | undefined;

export function freshDirectory(): string {
  root ??= makeRoot();
  return mkdtempSync(join(root, "log-"));
}

export function removeDirectory(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
}

function makeRoot(): string {
  const made = mkdtempSync(join(tmpdir(), "heddle-bench-"));
  process.once("exit", () => removeDirectory(made));
  // Without a listener these end the process and skip "exit".
  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const) {
    process.once(signal, () => process.exit(code));
  }
  return made;
}
