// Supervisor: runs this program as a child process, and starts it again on the same directory when the child has killed
// itself. It is what systemd, a container runtime or a process manager does for a program in production.

import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";

export interface Supervision {
  /** The module to run and its arguments; `--life N` is added. */
  readonly program: string;
  readonly args: readonly string[];
  /** How many kills are expected. Another one ends the supervision. */
  readonly kills: number;
  /** Told after a kill and before the next start. */
  readonly onKilled: (pid: number) => void;
}

/** Resolves with the exit code of the last process. */
export async function supervise({ program, args, kills, onKilled }: Supervision): Promise<number> {
  let child: ChildProcess | undefined;
  // Ctrl-C reaches the child by itself on a terminal, and only through us otherwise. Being told twice does it no harm.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child?.kill(signal));
  for (let life = 1; ; life++) {
    child = spawn(process.execPath, [program, ...args, "--life", String(life)], { stdio: "inherit" });
    const { code, signal } = await endOf(child);
    if (signal !== "SIGKILL" || life > kills) return code ?? 128 + (signal ? constants.signals[signal] : 0);
    onKilled(child.pid ?? 0);
  }
}

interface End {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

function endOf(child: ChildProcess): Promise<End> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => resolve({ code, signal }));
  });
}
