// A full disk, by the limit the operating system has for the size of files: it is per process, and can be lifted from outside.

import { spawnSync } from "node:child_process";

/** The process may have ended by now. */
export function liftLimit(pid: number): void {
  spawnSync("prlimit", ["--pid", String(pid), "--fsize=unlimited"]);
}
