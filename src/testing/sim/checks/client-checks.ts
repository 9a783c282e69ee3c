// ClientChecks: what somebody outside may rely on.
//
// C1  What was acknowledged is durable: a start, an answer, a cancel, a verdict.
// C2  Subscribers are told what is durable, in order, each event once a process.
// C3  A state that is shown is the fold of the durable log up to its position.
// C4  Nothing is in the log that nobody asked for: no start, no answer, no cancel but that of a deadline.
// C5  A snapshot is of what is durable: it may outlive the rest.

import { isDeepStrictEqual } from "node:util";
import { type ExecutionEvent, type ExecutionState, fromWire } from "../../../kernel/index.js";
import { revealState } from "../../../kernel/state.js";
import type { Logs } from "../logs.js";
import { type Observation, type Observer, type Request, Violation } from "../observation.js";

export class ClientChecks implements Observer {
  readonly #logs: Logs;
  /** The next position to tell of, by process and execution. */
  readonly #toldUpTo = new Map<string, number>();
  readonly #asked: Request[] = [];

  constructor(logs: Logs) {
    this.#logs = logs;
  }

  see(observation: Observation): void {
    switch (observation.kind) {
      case "asked":
        this.#asked.push(observation.request);
        return;
      case "acknowledged":
        return this.#acknowledged(observation.request);
      case "told":
        return this.#told(observation.process, observation.executionId, observation.sequence);
      case "shown":
        return this.#shown(observation.state, observation.isFenced);
      case "saved":
        return this.#saved(observation.executionId, observation.sequence);
      case "written":
        for (const event of observation.record.events) this.#written(observation.executionId, event);
        return;
      default:
    }
  }

  // C1
  #acknowledged(request: Request): void {
    const log = this.#logs.of(request.executionId);
    const isThere = (): boolean => {
      switch (request.kind) {
        case "start":
          return log.isDurable(0);
        case "resume": {
          const gate = log.gates.get(request.gateId);
          return log.isDurable(gate?.closedAt) && gate?.requestId === request.requestId;
        }
        case "cancel":
          return log.isDurable(log.cancelledAt ?? log.endedAt);
        case "verdict":
          return log.isDurable(log.latest(request.stepId)?.decidedAt);
      }
    };
    if (!isThere())
      throw new Violation(
        "C1",
        `a ${request.kind} of ${request.executionId} was acknowledged and is not durable.`,
      );
  }

  // C2
  #told(process: string, executionId: string, sequence: number): void {
    const { durable } = this.#logs.of(executionId);
    if (sequence >= durable)
      throw new Violation("C2", `${executionId}#${sequence} was told of; durable are ${durable} events.`);
    const name = `${process} ${executionId}`;
    const next = this.#toldUpTo.get(name) ?? sequence;
    if (sequence !== next)
      throw new Violation("C2", `${executionId}#${sequence} was told of where #${next} is next.`);
    this.#toldUpTo.set(name, sequence + 1);
  }

  // C3. Who lost the log sees what the new owner has written, and cannot know whether it is durable.
  #shown(state: ExecutionState, isFenced: boolean): void {
    const { executionId, sequence } = state;
    const log = this.#logs.of(executionId);
    if (!isFenced && sequence >= log.durable)
      throw new Violation(
        "C3",
        `${executionId} was shown as of #${sequence}; durable are ${log.durable} events.`,
      );
    const folded = revealState(executionId, log.foldedAt(sequence));
    if (!isDeepStrictEqual(state, folded))
      throw new Violation("C3", `${executionId} was shown as of #${sequence}, otherwise than its log says.`);
  }

  // C5
  #saved(executionId: string, sequence: number): void {
    const { durable } = this.#logs.of(executionId);
    if (sequence >= durable)
      throw new Violation(
        "C5",
        `a snapshot of ${executionId} is as of #${sequence}; durable are ${durable} events.`,
      );
  }

  // C4
  #written(executionId: string, event: ExecutionEvent): void {
    const wasAsked = (fits: (request: Request) => boolean): boolean =>
      this.#asked.some((request) => request.executionId === executionId && fits(request));
    const isKnown = (): boolean => {
      switch (event.type) {
        case "EXECUTION_STARTED":
          return wasAsked(({ kind }) => kind === "start");
        case "CANCEL_REQUESTED":
          return event.code !== undefined || wasAsked(({ kind }) => kind === "cancel");
        case "GATE_EVENT": {
          const payload = fromWire(event.payload);
          return wasAsked(
            (request) =>
              request.kind === "resume" &&
              request.gateId === event.gateId &&
              isDeepStrictEqual(request.payload, payload),
          );
        }
        default:
          return true;
      }
    };
    if (!isKnown()) throw new Violation("C4", `${executionId} has a ${event.type} that nobody asked for.`);
  }
}
