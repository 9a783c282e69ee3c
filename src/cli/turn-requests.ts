// The requests of agents' turns, rebuilt from the log that is being read.
//
// Owns       what it has read of the steps, once the first turn is met: a log without agents costs nothing.

import { isTurnForm, type TurnForm } from "../agent/transcript/turn-form.js";
import { TurnReader } from "../agent/transcript/turn-reader.js";
import { fromWire, type Wire } from "../kernel/codec/index.js";
import { HeddleError } from "../kernel/errors.js";
import type { ExecutionEvent } from "../kernel/events.js";
import type { ExecutionPlace, LogInspector } from "../kernel/store/lmdb/log-inspector.js";
import type { LlmRequest } from "../llm/index.js";

export type TurnRequest =
  | { readonly ok: true; readonly stepId: string; readonly form: TurnForm; readonly request: LlmRequest }
  | { readonly ok: false; readonly stepId: string; readonly words: string };

const RECORDS_PER_PAGE = 256;

export class TurnRequests {
  readonly #log: LogInspector;
  readonly #place: ExecutionPlace;
  readonly #inputs = new Map<string, Wire>();
  readonly #outputs = new Map<string, { readonly output: Wire }>();
  readonly #choices = new Map<string, { readonly choice: Wire }>();
  readonly #reader = new TurnReader({
    inputOf: (stepId) => fromWire(this.#inputs.get(stepId)),
    outputOf: (stepId) => {
      const outcome = this.#outputs.get(stepId);
      return outcome && { output: fromWire(outcome.output) };
    },
    choiceOf: (decisionId) => {
      const decision = this.#choices.get(decisionId);
      return decision && { choice: fromWire(decision.choice) };
    },
  });
  #next = 0;

  constructor(log: LogInspector, place: ExecutionPlace) {
    this.#log = log;
    this.#place = place;
  }

  /** Of the turn that begins with this event; undefined where none does. */
  of(event: ExecutionEvent, sequence: number): TurnRequest | undefined {
    return event.type === "STEP_STARTED" ? this.at(event.stepId, event.input, sequence) : undefined;
  }

  /** Of a step with this input, as far as the log holds it at `sequence`. */
  at(stepId: string, input: Wire, sequence: number): TurnRequest | undefined {
    const form = formOf(input);
    if (!form) return undefined;
    this.#readUpTo(sequence);
    try {
      return { ok: true, stepId, form, request: this.#reader.request(stepId) };
    } catch (error) {
      if (!(error instanceof HeddleError)) throw error;
      return { ok: false, stepId, words: error.message };
    }
  }

  #readUpTo(sequence: number): void {
    while (this.#next <= sequence) {
      const records = this.#log.records(this.#place, this.#next, RECORDS_PER_PAGE);
      for (const stored of records) {
        const events = stored.kind === "record" ? stored.record.events : [];
        for (const event of events) this.#note(event);
        this.#next = stored.sequence + Math.max(events.length, 1);
      }
      if (records.length < RECORDS_PER_PAGE) return;
    }
  }

  #note(event: ExecutionEvent): void {
    if (event.type === "STEP_STARTED") this.#inputs.set(event.stepId, event.input);
    else if (event.type === "STEP_COMPLETED") this.#outputs.set(event.stepId, { output: event.output });
    else if (event.type === "DECISION_RECORDED")
      this.#choices.set(event.decisionId, { choice: event.choice });
  }
}

function formOf(input: Wire): TurnForm | undefined {
  try {
    const value = fromWire(input);
    return isTurnForm(value) ? value : undefined;
  } catch {
    return undefined; // its own line says that it cannot be read
  }
}
