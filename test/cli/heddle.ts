// The built command line as a child process, as a user runs it.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

export interface CommandEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningCommand {
  /** Resolves when stdout holds `text`; rejects when the command ends without it. */
  shows(text: string): Promise<void>;
  /** The same for stderr. */
  notes(text: string): Promise<void>;
  readonly ended: Promise<CommandEnd>;
  readonly stdout: string;
  kill(signal: NodeJS.Signals): void;
  /** What `| head` does once it has seen enough. */
  closeStdout(): void;
}

/** `stdin` is what the command may read; without it there is nothing. */
export function startHeddle(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  stdin = "",
): RunningCommand {
  const child = spawn(process.execPath, [MAIN, ...args], {
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...process.env, FORCE_COLOR: undefined, ...env },
  });
  // A command that ends before it has read this does not want it.
  child.stdin.on("error", () => {}).end(stdin);
  let stdout = "";
  let stderr = "";
  let over = false;
  const look = new Set<() => void>();
  const tell = (): void => {
    for (const each of look) each();
  };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    tell();
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
    tell();
  });
  const ended = once(child, "close").then(([code]: (number | null)[]) => {
    over = true;
    tell();
    return { code: code ?? null, stdout, stderr };
  });
  const seen = (output: () => string, text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const check = (): void => {
        const isThere = output().includes(text);
        if (!isThere && !over) return;
        look.delete(check);
        if (isThere) resolve();
        else reject(new Error(`heddle ended without ${text}:\n${stdout}${stderr}`));
      };
      look.add(check);
      check();
    });
  return {
    ended,
    get stdout() {
      return stdout;
    },
    kill: (signal) => void child.kill(signal),
    closeStdout: () => void child.stdout.destroy(),
    shows: (text) => seen(() => stdout, text),
    notes: (text) => seen(() => stderr, text),
  };
}

export function heddle(...args: readonly string[]): Promise<CommandEnd> {
  return startHeddle(args).ended;
}

/** The objects of JSON lines. */
export function jsonLines(text: string): Record<string, unknown>[] {
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}
