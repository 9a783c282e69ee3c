// Children: the other processes of a test. Each runs a script of children/ and talks in lines.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export interface Child {
  readonly process: ChildProcess;
  /** The next line the child prints; rejects when it ends first. */
  line(): Promise<string>;
  /** Waits for the child's end. Returns its exit code, or the signal that ended it. */
  ended(): Promise<number | string>;
  kill(signal: NodeJS.Signals): void;
  /** What it wrote to stderr so far. */
  stderr(): string;
}

export interface ChildOptions {
  /** A shell command that the shell runs before it becomes the child: `ulimit -S -f 8000`. */
  readonly before?: string;
}

export function startChild(script: string, args: readonly string[], { before }: ChildOptions = {}): Child {
  const path = fileURLToPath(new URL(`children/${script}`, import.meta.url));
  const node = [...(script.endsWith(".ts") ? ["--import", "tsx"] : []), path, ...args];
  const options = { stdio: ["ignore", "pipe", "pipe"] as ["ignore", "pipe", "pipe"] };
  const child =
    before === undefined
      ? spawn(process.execPath, node, options)
      : spawn("/bin/sh", ["-c", `${before} && exec "$@"`, "sh", process.execPath, ...node], options);
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const exit = once(child, "exit").then(([code, signal]) => (signal ?? code) as number | string);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    process: child,
    async line() {
      const next = await lines.next();
      if (next.done)
        throw new Error(`${script} ended (${await exit}) instead of printing a line:\n${stderr}`);
      return next.value;
    },
    ended: () => exit,
    kill: (signal) => void child.kill(signal),
    stderr: () => stderr,
  };
}
