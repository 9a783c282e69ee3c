import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface TemporaryDirectory {
  readonly dir: string;
  readonly remove: () => void;
}

export function temporaryDirectory(): TemporaryDirectory {
  const dir = mkdtempSync(join(tmpdir(), "heddle-store-"));
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) };
}
