// Messages: everything that can happen to an actor. One is handled at a time, and each becomes events of its log.

import type { LateOutcome, Outcome } from "../effects/index.js";
import type { EventOf, WantedDecision, Wire } from "../kernel/index.js";
import type { InFlight } from "./in-flight.js";

export type Message =
  /** Makes the actor run its flow along the log; recovery sends it. */
  | { readonly kind: "wake" }
  | { readonly kind: "settled"; readonly attempt: InFlight; readonly outcome: Outcome }
  /** An attempt settled when its outcome did not count any more. */
  | {
      readonly kind: "late";
      readonly stepId: string;
      readonly issue: number;
      readonly attempt: number;
      readonly outcome: LateOutcome;
    }
  | {
      readonly kind: "effectEvent";
      readonly attempt: InFlight;
      readonly name: string;
      readonly payload: Wire;
    }
  | {
      readonly kind: "decided";
      readonly decision: WantedDecision;
      readonly event: EventOf<"DECISION_RECORDED" | "DECISION_FAILED">;
    }
  /** The signal of its task was aborted. */
  | { readonly kind: "stopped"; readonly stepId: string }
  | { readonly kind: "timerDue"; readonly wakeAt: number; readonly timerId: string }
  | { readonly kind: "resume"; readonly request: ResumeRequest; readonly reply: Reply<void> }
  | {
      readonly kind: "verdict";
      readonly stepId: string;
      readonly verdict: Verdict;
      readonly reply: Reply<void>;
    }
  | {
      readonly kind: "cancel";
      readonly reason: string;
      /** Ends it at once, without cleanup. */
      readonly force: boolean;
      readonly reply: Reply<void>;
    };

/** A verdict as an actor gets it: checked as far as it can be without the step. */
export type Verdict =
  | { readonly kind: "outcome"; readonly output: Wire }
  | { readonly kind: "fail"; readonly error: Wire }
  | { readonly kind: "retry" };

/** What `runtime.resume` takes. */
export interface ResumeRequest {
  /** The name the gate was opened under (`suspend({ on })`). */
  readonly eventType: string;
  readonly payload?: unknown;
  /** Names one of several open gates of this name. */
  readonly gateId?: string;
  readonly correlationKey?: string;
  /** Makes the resume repeatable: the same id reports success again and records nothing. At most 1,024 bytes. */
  readonly requestId?: string;
}

/** The two ways a caller hears back; called after the commit its answer depends on. */
export interface Reply<T> {
  resolve(value: T): void;
  reject(error: unknown): void;
}

/** Tells whoever sent the message, if anybody waits for an answer to it. */
export function rejectMessage(message: Message, error: unknown): void {
  if ("reply" in message) message.reply.reject(error);
}
