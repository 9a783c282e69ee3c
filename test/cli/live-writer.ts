// The other process: owns a directory and writes to it for as long as the test wants.

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const PROGRAM = fileURLToPath(new URL("programs/live-writer.mjs", import.meta.url));

interface Answer {
  readonly done: unknown;
  readonly trouble: readonly string[];
}

export class LiveWriter {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  static async start(dir: string): Promise<LiveWriter> {
    const writer = new LiveWriter(fork(PROGRAM, [dir]));
    await writer.#answer();
    return writer;
  }

  /** Has it done; gives what the runtime complained of so far. */
  async ask(message: Readonly<Record<string, unknown>>): Promise<readonly string[]> {
    const answer = this.#answer();
    this.#child.send(message);
    return (await answer).trouble;
  }

  /** The exit code. */
  async close(): Promise<number | null> {
    const ended = once(this.#child, "exit") as Promise<[number | null]>;
    await this.ask({ close: true });
    return (await ended)[0];
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  async #answer(): Promise<Answer> {
    const ended = new AbortController();
    const exit = once(this.#child, "exit", { signal: ended.signal }).then(([code]: unknown[]): never => {
      throw new Error(`The writer ended with ${String(code)}.`);
    });
    exit.catch(() => {});
    try {
      const [answer] = (await Promise.race([once(this.#child, "message"), exit])) as [Answer];
      return answer;
    } finally {
      ended.abort();
    }
  }
}
