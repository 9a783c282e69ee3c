// Child: a real process that runs one of our programs, its lines as they come, and its end.

import { spawn, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

export interface ChildEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
}

export interface Child {
  readonly pid: number;
  /** What it wrote so far; whole lines only, as a kill may cut the last one. */
  readonly lines: readonly string[];
  /** Resolves with the first line for which `test` holds; rejects when the child ends without one. */
  line(test: (line: string) => boolean): Promise<string>;
  readonly ended: Promise<ChildEnd>;
  kill(signal: NodeJS.Signals): void;
}

export interface ChildOptions {
  readonly args?: readonly string[];
  readonly nodeArgs?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** A shell command that the shell runs before it becomes the child: `ulimit -S -f 8000`. */
  readonly before?: string;
}

/** Runs the program at `url` with this Node. */
export function startChild(
  url: URL,
  { args = [], nodeArgs = [], env = {}, before }: ChildOptions = {},
): Child {
  const command = [process.execPath, ...nodeArgs, fileURLToPath(url), ...args];
  const [file, ...rest] =
    before === undefined ? command : ["/bin/sh", "-c", `${before} && exec "$@"`, "sh", ...command];
  const child = spawn(file!, rest, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  let partial = "";
  let stderr = "";
  let over: ChildEnd | undefined;
  const tell = (): void => {
    for (const check of waiting) check();
  };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const parts = (partial + text).split("\n");
    partial = parts.pop() ?? "";
    lines.push(...parts);
    tell();
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const ended = new Promise<ChildEnd>((resolve, reject) => {
    child.on("error", reject);
    // `close`, not `exit`: by then the pipes are read to their end.
    child.on("close", (code, signal) => {
      over = { code, signal, stderr };
      resolve(over);
      tell();
    });
  });
  return {
    pid: child.pid ?? 0,
    lines,
    ended,
    kill: (signal) => void child.kill(signal),
    line: (test) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          const found = lines.find(test);
          if (found === undefined && !over) return;
          waiting.delete(check);
          if (found !== undefined) resolve(found);
          else
            reject(
              new Error(`The child ended without the line: ${JSON.stringify(over)}\n${lines.join("\n")}`),
            );
        };
        waiting.add(check);
        check();
      }),
  };
}

/** Takes back what `ulimit -S -f` set for the files of a process, which may have ended by now. Whether it was there. */
export function liftFileLimit(pid: number): boolean {
  return spawnSync("prlimit", ["--pid", String(pid), "--fsize=unlimited"]).status === 0;
}
