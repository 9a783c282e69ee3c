// Terminal: what a command-line program says and asks there.

import { createInterface } from "node:readline/promises";
import { HeddleError } from "heddle";

/** Whether there is a person to ask. */
export const isInteractive: boolean = process.stdin.isTTY && process.stderr.isTTY && !process.env["CI"];

/** The answer, or undefined when the input ended or `signal` was aborted first. */
export async function ask(question: string, signal: AbortSignal): Promise<string | undefined> {
  if (signal.aborted) return undefined;
  // Not a "terminal" for readline: it would take Ctrl-C for itself, and the program could not close its log.
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  // A question whose input ends is never answered; the interface only tells that it was closed.
  const closed = new Promise<undefined>((resolve) => lines.once("close", () => resolve(undefined)));
  const close = (): void => lines.close();
  signal.addEventListener("abort", close);
  try {
    return await Promise.race([lines.question(question), closed]);
  } finally {
    signal.removeEventListener("abort", close);
    close();
  }
}

/** heddle's messages say what happened and what to do, and the system's what it refused. Else it is a bug, and its stack says where. */
export function describe(error: unknown): string {
  if (error instanceof HeddleError || (error instanceof Error && "syscall" in error)) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** For a shell, where that is needed. */
export function quoted(text: string): string {
  return /^[\w@/.:+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
