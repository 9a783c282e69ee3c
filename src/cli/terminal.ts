// Terminal: where a command's words go, and what tells it to stop.
//
// Owns       the two streams and the signal that ends the command.
//
// T1  Nothing is written faster than the other end takes it, so a long log never piles up in memory.
// T2  A reader that has seen enough (`| head`) ends the command quietly, and Ctrl-C ends it in order: what is being
//     read is finished with and closed, so that no trace of the reader stays in the directory. Nothing more is printed
//     then but what the command concludes with, and that only when somebody still reads.
// T3  Colours only where somebody looks: on a terminal, and not when NO_COLOR says otherwise.

import { once } from "node:events";
import type { WriteStream } from "node:tty";
import pc from "picocolors";

export type Colors = ReturnType<typeof pc.createColors>;

export interface OutputStream extends NodeJS.WritableStream {
  readonly isTTY?: boolean | undefined;
  readonly columns?: WriteStream["columns"] | undefined;
}

export interface TerminalOptions {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly env: NodeJS.ProcessEnv;
}

export class Terminal {
  readonly colors: Colors;
  /** Columns of the terminal; `undefined` when the output is no terminal, or is one that does not know (0). */
  readonly width: number | undefined;
  readonly #stdout: OutputStream;
  readonly #stderr: OutputStream;
  readonly #stop = new AbortController();
  #isLost = false;

  constructor({ stdout, stderr, env }: TerminalOptions) {
    this.#stdout = stdout;
    this.#stderr = stderr;
    this.colors = pc.createColors(wantsColors(stdout, env)); // T3
    this.width = stdout.isTTY === true ? stdout.columns || undefined : undefined;
    stdout.on("error", (error: NodeJS.ErrnoException) => this.#lost(error));
    stderr.on("error", (error: NodeJS.ErrnoException) => this.#lost(error));
  }

  /** Aborted when the command should end. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  stop(): void {
    this.#stop.abort();
  }

  async print(lines: readonly string[]): Promise<void> {
    if (lines.length === 0 || this.signal.aborted) return;
    if (this.#stdout.write(`${lines.join("\n")}\n`)) return;
    try {
      await once(this.#stdout, "drain", { signal: this.signal }); // T1
    } catch (error) {
      if (!this.signal.aborted) throw error;
    }
  }

  /** What the command has come to, also when it was told to stop before it was through. (T2) */
  async conclude(lines: readonly string[]): Promise<void> {
    if (lines.length === 0 || this.#isLost) return;
    if (this.#stdout.write(`${lines.join("\n")}\n`)) return;
    try {
      await once(this.#stdout, "drain");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EPIPE") throw error;
    }
  }

  /** Words beside the output, which stays clean for programs that read it. */
  note(text: string): void {
    this.#stderr.write(`${text}\n`);
  }

  #lost(error: NodeJS.ErrnoException): void {
    if (error.code !== "EPIPE") throw error;
    this.#isLost = true;
    this.stop(); // T2
  }
}

export function wantsColors(stdout: Pick<OutputStream, "isTTY">, env: NodeJS.ProcessEnv): boolean {
  return stdout.isTTY === true && !env["NO_COLOR"] && env["TERM"] !== "dumb";
}
