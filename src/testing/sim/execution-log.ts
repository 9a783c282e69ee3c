// ExecutionLog: one execution's log as the simulation saw it written, and what a reader may rely on in any log. It knows of the
// format only what ARCHITECTURE.md promises, so that it judges the kernel and is not part of it.
//
// L1  Positions are dense and begin at 0; the first event starts the execution, and no other does.
// L2  A request has one outcome: each issue of a step, each gate, the execution itself. Nothing follows the end but late outcomes.
//     Each attempt is late once, unless it was dispatched twice because the clock was set back (ARCHITECTURE.md, Faults).
// L3  Attempts of an issue are counted one by one.
// L4  A timer never fires early.

import {
  type ExecutionEvent,
  type FoldedState,
  fold,
  idempotencyKeyOf,
  type LogRecord,
} from "../../kernel/index.js";
import { Violation } from "./observation.js";

/** One request of a step. Positions are sequence numbers. */
export interface Issue {
  readonly stepId: string;
  readonly key: string;
  readonly isShielded: boolean;
  /** Where each attempt was requested, the first one at index 0. */
  readonly requestedAt: number[];
  doubtAt: number | undefined;
  /** Where the doubt before was decided. */
  decidedAt: number | undefined;
  closedAt: number | undefined;
}

export interface GateEntry {
  readonly gateId: string;
  readonly on: string;
  readonly kind: "event" | "sleep";
  readonly isShielded: boolean;
  readonly wakeAt: number | undefined;
  readonly openedAt: number;
  closedAt: number | undefined;
  /** Of the resume that closed it. */
  requestId: string | undefined;
}

const TERMINAL = new Set(["EXECUTION_COMPLETED", "EXECUTION_FAILED", "EXECUTION_CANCELLED"]);

export class ExecutionLog {
  readonly executionId: string;
  #records: LogRecord[] = [];
  #events: ExecutionEvent[] = [];
  /** Events that no loss of power takes away. */
  durable = 0;
  readonly issues = new Map<string, Issue>();
  readonly #latest = new Map<string, { issue: Issue; count: number }>();
  readonly gates = new Map<string, GateEntry>();
  readonly #late = new Set<string>();
  cancelledAt: number | undefined;
  endedAt: number | undefined;
  readonly #clock: { readonly wasSetBack: boolean };

  constructor(executionId: string, clock: { readonly wasSetBack: boolean }) {
    this.executionId = executionId;
    this.#clock = clock;
  }

  get events(): readonly ExecutionEvent[] {
    return this.#events;
  }

  get length(): number {
    return this.#events.length;
  }

  get hasEnded(): boolean {
    return this.isDurable(this.endedAt);
  }

  isDurable(position: number | undefined): boolean {
    return position !== undefined && position < this.durable;
  }

  /** The request of a step that came last. */
  latest(stepId: string): Issue | undefined {
    return this.#latest.get(stepId)?.issue;
  }

  /** The state at a position, computed from nothing but the log. */
  foldedAt(sequence: number): FoldedState {
    return fold(this.#records, undefined, sequence);
  }

  append(record: LogRecord): void {
    if (record.sequence !== this.#events.length)
      throw this.#broken("L1", `a record begins at ${record.sequence} where ${this.#events.length} is next`);
    this.#records.push(record);
    for (const event of record.events) {
      this.#take(event, this.#events.length, record.timestamp);
      this.#events.push(event);
    }
  }

  /** A loss of power left so many events. */
  truncate(length: number): void {
    const kept = this.#records.filter(({ sequence }) => sequence < length);
    this.#records = [];
    this.#events = [];
    this.issues.clear();
    this.#latest.clear();
    this.gates.clear();
    this.#late.clear();
    this.cancelledAt = undefined;
    this.endedAt = undefined;
    for (const record of kept) this.append(record);
  }

  #take(event: ExecutionEvent, at: number, now: number): void {
    const { type } = event;
    if ((type === "EXECUTION_STARTED") !== (at === 0)) throw this.#broken("L1", `${type} is event ${at}`);
    if (this.endedAt !== undefined && type !== "OUTCOME_LATE")
      throw this.#broken("L2", `${type} follows the end, at ${at}`);
    switch (type) {
      case "STEP_STARTED":
        return this.#request(event.stepId, event.shielded === true, at);
      case "STEP_RETRIED": {
        const issue = this.#open(event.stepId, type, at);
        const { requestedAt } = issue;
        const isNext = event.attempt === requestedAt.length + 1;
        if (!isNext && !(event.reason === "throttled" && event.attempt === requestedAt.length))
          throw this.#broken(
            "L3",
            `attempt ${event.attempt} of ${event.stepId} follows attempt ${requestedAt.length}, at ${at}`,
          );
        requestedAt[event.attempt - 1] = at;
        decide(issue, at);
        return;
      }
      case "STEP_COMPLETED":
      case "STEP_FAILED":
        close(this.#open(event.stepId, type, at), at);
        return;
      case "EFFECT_INDOUBT":
        this.#open(event.stepId, type, at).doubtAt = at;
        return;
      case "EXECUTION_SUSPENDED": {
        const { gateId, on, kind, wakeAt, shielded } = event;
        if (this.gates.has(gateId)) throw this.#broken("L2", `gate ${gateId} opens twice, at ${at}`);
        const entry = { gateId, on, kind, wakeAt, isShielded: shielded === true, openedAt: at };
        this.gates.set(gateId, { ...entry, closedAt: undefined, requestId: undefined });
        return;
      }
      case "GATE_EVENT":
        this.#openGate(event.gateId, type, at).closedAt = at;
        return;
      case "GATE_TIMED_OUT":
      case "TIMER_FIRED": {
        const gate = this.#openGate(event.gateId, type, at);
        if (gate.wakeAt === undefined || gate.wakeAt > now)
          throw this.#broken(
            "L4",
            `${type} of ${event.gateId} comes at ${now}, due at ${String(gate.wakeAt)}`,
          );
        gate.closedAt = at;
        return;
      }
      case "EXECUTION_RESUMED": {
        const gate = this.gates.get(event.gateId);
        if (gate) gate.requestId = event.requestId;
        return;
      }
      case "CANCEL_REQUESTED":
        if (this.cancelledAt !== undefined) throw this.#broken("L2", `a second ${type}, at ${at}`);
        this.cancelledAt = at;
        for (const { issue } of this.#latest.values()) if (!issue.isShielded) close(issue, at);
        for (const gate of this.gates.values()) if (!gate.isShielded) gate.closedAt ??= at;
        return;
      case "OUTCOME_LATE": {
        const name = `${event.stepId} ${event.issue ?? 1} ${event.attempt}`;
        const mayRepeat = this.#clock.wasSetBack && event.attempt > 1;
        if (this.#late.has(name) && !mayRepeat)
          throw this.#broken("L2", `attempt ${name} is late twice, at ${at}`);
        this.#late.add(name);
        return;
      }
      default:
        if (TERMINAL.has(type)) this.endedAt = at;
    }
  }

  #request(stepId: string, isShielded: boolean, at: number): void {
    const before = this.#latest.get(stepId);
    if (before && before.issue.closedAt === undefined)
      throw this.#broken("L2", `${stepId} is requested again while it is open, at ${at}`);
    const count = (before?.count ?? 0) + 1;
    const key = idempotencyKeyOf(this.executionId, stepId, count);
    const issue: Issue = {
      stepId,
      key,
      isShielded,
      requestedAt: [at],
      doubtAt: undefined,
      decidedAt: undefined,
      closedAt: undefined,
    };
    this.#latest.set(stepId, { issue, count });
    this.issues.set(key, issue);
  }

  #open(stepId: string, type: string, at: number): Issue {
    const issue = this.latest(stepId);
    if (!issue || issue.closedAt !== undefined)
      throw this.#broken("L2", `${type} of ${stepId}, which is not open, at ${at}`);
    return issue;
  }

  #openGate(gateId: string, type: string, at: number): GateEntry {
    const gate = this.gates.get(gateId);
    if (!gate || gate.closedAt !== undefined)
      throw this.#broken("L2", `${type} of ${gateId}, which is not open, at ${at}`);
    return gate;
  }

  #broken(rule: string, message: string): Violation {
    return new Violation(rule, `${this.executionId}: ${message}.`);
  }
}

function decide(issue: Issue, at: number): void {
  if (issue.doubtAt !== undefined) issue.decidedAt = at;
  issue.doubtAt = undefined;
}

function close(issue: Issue, at: number): void {
  issue.closedAt ??= at;
  decide(issue, at);
}
