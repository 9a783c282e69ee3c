// Consent: asks before an effect is called, because a call may cost money or change something.

import { createInterface } from "node:readline/promises";
import type { Readable, Writable } from "node:stream";

export interface Asking {
  readonly input: Readable;
  readonly output: Writable;
  readonly signal: AbortSignal;
}

/** Only "y" and "yes" are a yes. The end of the input, and Ctrl-C, are a no. */
export async function agreesTo(question: string, { input, output, signal }: Asking): Promise<boolean> {
  // Not as a terminal: the line discipline is the system's, and with it Ctrl-C, which ends the command as it always does.
  const lines = createInterface({ input, output, terminal: false });
  const ended = new Promise<string>((resolve) => lines.once("close", () => resolve("\n")));
  try {
    const answer = await Promise.race([lines.question(question, { signal }), ended]);
    if (answer === "\n") output.write(answer); // The line of the question was never ended.
    return /^\s*y(?:es)?\s*$/i.test(answer);
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  } finally {
    lines.close();
  }
}
