// Global setup: brings dist/ up to date once, before any test file is loaded, for the tests that run the built package.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

export default function buildOnce(): void {
  const root = fileURLToPath(new URL("..", import.meta.url));
  if (!existsSync(new URL("../src/index.ts", import.meta.url))) return;
  const build = spawnSync(process.execPath, ["scripts/build.mjs", "--for-tests"], {
    cwd: root,
    stdio: "inherit",
  });
  if (build.error) throw build.error;
  if (build.status !== 0)
    throw new Error("The build before the tests failed; the compiler's output is above.");
}
