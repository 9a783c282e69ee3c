// CallLog: every call of a loop and what came of it, for its result. It is bounded, for a flow may return it and a log keep it:
// past a size in all, an entry says only where the log has the rest.

import type { ToolCallLogEntry } from "../result.js";
import type { Call } from "./call.js";
import { logEntry, type ToolAnswer } from "./tool-answer.js";

/** Of inputs and results together. */
const BYTES_MAX = 256 * 1024;

export class CallLog {
  readonly #entries: ToolCallLogEntry[] = [];
  #bytes = 0;

  get entries(): readonly ToolCallLogEntry[] {
    return [...this.#entries];
  }

  /** @param bytes of the answer, as the model is shown it */
  add(call: Call, turn: number, answer: ToolAnswer, bytes: number): void {
    const entry = logEntry(call, turn, answer);
    this.#bytes += bytes + (JSON.stringify(call.input)?.length ?? 0);
    if (this.#bytes <= BYTES_MAX) {
      this.#entries.push(entry);
      return;
    }
    const { input: _, result: __, ...facts } = entry;
    this.#entries.push({ ...facts, omitted: true });
  }
}
