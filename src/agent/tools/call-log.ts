// CallLog: every call of a loop and what came of it, for its result. It is bounded, for a flow may return it and a log keep it:
// past a size in all, an entry says only where the log has the rest.

import type { ToolCallLogEntry } from "../result.js";
import type { Call } from "./call.js";
import { logEntry, type ToolAnswer } from "./tool-answer.js";

/** Of inputs and results together. */
const BYTES_MAX = 256 * 1024;

export class CallLog {
  readonly #entries: ToolCallLogEntry[] = [];
  readonly #shownMax: number;
  #bytes = 0;

  /** @param shownMax what the model is shown of a result at most, in bytes: one that is larger is left out here */
  constructor(shownMax: number) {
    this.#shownMax = shownMax;
  }

  get entries(): readonly ToolCallLogEntry[] {
    return [...this.#entries];
  }

  /** @param shown bytes of the answer, as the model is shown it */
  add(call: Call, turn: number, answer: ToolAnswer, shown: number): void {
    const entry = logEntry(call, turn, answer);
    const bytes = shown + (JSON.stringify(call.input)?.length ?? 0);
    if (shown < this.#shownMax && this.#bytes + bytes <= BYTES_MAX) {
      this.#bytes += bytes;
      this.#entries.push(entry);
      return;
    }
    const { input: _, result: __, ...facts } = entry;
    this.#entries.push({ ...facts, omitted: true });
  }
}
