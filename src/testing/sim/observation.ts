// Observations: everything a simulation sees, as one stream. The trace writes it down, the checks judge it; neither is asked
// anything else.

import type { Outcome } from "../../effects/index.js";
import type { ExecutionState, LogRecord } from "../../kernel/index.js";

/** One attempt of one step. */
export interface AttemptId {
  readonly executionId: string;
  readonly stepId: string;
  /** Its idempotency key, which tells one request of a step's id from the next. */
  readonly key: string;
  readonly attempt: number;
}

/** What a client asks for. */
export type Request =
  | { readonly kind: "start"; readonly executionId: string }
  | {
      readonly kind: "resume";
      readonly executionId: string;
      readonly gateId: string;
      readonly requestId: string;
      readonly payload: unknown;
    }
  | { readonly kind: "cancel"; readonly executionId: string; readonly force: boolean }
  | {
      readonly kind: "verdict";
      readonly executionId: string;
      readonly stepId: string;
      readonly verdict: "outcome" | "fail" | "retry";
    };

export type Observation =
  /** A process opened a partition. Everything that was visible is durable with that. */
  | { readonly kind: "opened"; readonly process: string; readonly partition: number; readonly epoch: number }
  /** Readers see it; a loss of power may still take it away. */
  | {
      readonly kind: "written";
      readonly process: string;
      readonly partition: number;
      readonly epoch: number;
      readonly executionId: string;
      readonly record: LogRecord;
    }
  /** Everything written of it so far will be there whatever happens. */
  | { readonly kind: "flushed"; readonly executionId: string; readonly length: number }
  /** A loss of power took everything from this position on. */
  | { readonly kind: "lost"; readonly executionId: string; readonly length: number }
  | { readonly kind: "fault"; readonly what: string }
  | { readonly kind: "clockSet"; readonly byMs: number }
  | { readonly kind: "asked"; readonly process: string; readonly request: Request }
  | { readonly kind: "acknowledged"; readonly process: string; readonly request: Request }
  | { readonly kind: "refused"; readonly process: string; readonly request: Request; readonly code: string }
  /** A subscriber was told of a durable event. */
  | {
      readonly kind: "told";
      readonly process: string;
      readonly executionId: string;
      readonly sequence: number;
      readonly type: string;
    }
  /** Somebody who waited, or just looked, was shown a state. */
  | {
      readonly kind: "shown";
      readonly process: string;
      readonly state: ExecutionState;
      readonly isFenced: boolean;
    }
  /** The partition let an attempt go. */
  | {
      readonly kind: "dispatched";
      readonly process: string;
      readonly attempt: AttemptId;
      readonly mayRepeat: boolean;
      /** Whether another process has taken the log over: this one does not know yet. */
      readonly isFenced: boolean;
    }
  /** The effect of an attempt began to run. */
  | {
      readonly kind: "begun";
      readonly process: string;
      readonly attempt: AttemptId;
      readonly mayRepeat: boolean;
      readonly isFenced: boolean;
    }
  /** The partition was told what an attempt came to. */
  | {
      readonly kind: "outcome";
      readonly process: string;
      readonly attempt: AttemptId;
      readonly outcome: Outcome;
    }
  /** A snapshot was handed to a store that keeps what it is given, whatever happens to the log. */
  | { readonly kind: "saved"; readonly executionId: string; readonly sequence: number }
  | { readonly kind: "warned"; readonly process: string; readonly message: string };

/** Whoever is shown every observation. Throws `Violation`. */
export interface Observer {
  see(observation: Observation): void;
}

/** A rule that did not hold. */
export class Violation extends Error {
  override readonly name = "Violation";
  readonly rule: string;

  constructor(rule: string, message: string) {
    super(`${rule}: ${message}`);
    this.rule = rule;
  }
}
