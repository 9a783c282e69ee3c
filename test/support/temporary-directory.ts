// Temporary directory: where a test may write, alone.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A directory of the test's own, removed after it. */
export function temporaryDirectory(): string {
  const dir = mkdtempSync(join(tmpdir(), "heddle-test-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}
