// Calls: what a pool is asked to do, and how a call stands with it until it is over.

import type { StreamResult } from "../../effects/claim-check/stream-result.js";
import type { Place } from "../../effects/fair-queue.js";
import type { EffectContext } from "../../effects/index.js";
import { fromWire, type Wire, wireBytes } from "../../kernel/codec/index.js";
import type { Blob } from "./blobs.js";
import type { IncomingStream } from "./incoming-stream.js";

/** One attempt at an effect of the pool's module: its input, and what its context says. */
export interface PoolCall extends Omit<EffectContext, "signal" | "emit" | "meter" | "account"> {
  /** The id the module exports it under. */
  readonly effectId: string;
  readonly input: unknown;
  /** Aborting it rejects the call at once, and aborts the signal the effect has. The effect may go on regardless. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Aborts `signal` too. When that was aborted for its reason, a call under way is not rejected at once: what the effect comes
   * to is awaited.
   */
  readonly stop?: AbortSignal | undefined;
  /** Gets what the effect emits while it runs. */
  readonly emit?: ((eventType: string, payload: unknown) => void) | undefined;
  /** Gets what the effect reports of its use while it runs. */
  readonly meter?: EffectContext["meter"] | undefined;
  /** Counted from when the effect begins, not from when the call was made. */
  readonly timeoutMs?: number | undefined;
  /** Called when the effect begins; once more when the call runs again because its thread was lost to a neighbour. */
  readonly onStart?: (() => void) | undefined;
  /** What may be seen of the failure of its thread, which calls beside it may be told of. */
  readonly conceal?: ((failure: unknown) => unknown) | undefined;
  /** Hears what the effect came to when it went on after its call was aborted or out of time. Undefined: it completed. */
  readonly late?: ((failure: { readonly error: unknown } | undefined) => void) | undefined;
  /** False: once it has begun it is not run again, whoever ended its thread; it fails with EFFECT_WORKER_LOST. Default true. */
  readonly mayRepeat?: boolean | undefined;
  /** Threads that ended under it before, when it was made by whoever read its stream, through no fault of its own. Default 0. */
  readonly lostThreads?: number | undefined;
}

/** The same with an input that is cut off from the program already, as the log holds it. */
export interface WireCall extends PoolCall {
  readonly input: Wire;
}

export type PoolOutcome =
  /** The result is there to be read; that it ended, or failed, is heard by reading it. */
  | { readonly kind: "streaming"; readonly result: StreamResult }
  | { readonly kind: "completed"; readonly output: Wire }
  | {
      readonly kind: "failed";
      readonly error: unknown;
      /** It failed with the reason its signal was aborted for. */
      readonly hasStopped?: boolean;
    };

/** The thread a call was sent to, as far as the call is concerned. */
export interface Seat {
  /** Takes the call away from the thread, unless it has started. */
  takeBack(call: PendingCall): boolean;
  /** Aborts the signal the effect has. */
  cancel(call: PendingCall, reason: unknown): void;
}

/**
 * A call from when it is accepted until its thread is done with it. It is settled once, maybe before that: what the
 * thread still says of it then is dropped.
 */
export class PendingCall {
  readonly request: PoolCall;
  readonly input: Wire;
  /** Parts of the input that cross beside it. */
  readonly blobs: readonly Blob[];
  readonly bytes: number;
  readonly enqueuedAt: number;
  /** Where it waits, if it does. */
  place: Place<PendingCall> | undefined;
  /** Where it was sent, and its name there. */
  seat: Seat | undefined;
  id = 0;
  sentAt = 0;
  /** Threads that ended under it through no fault of its own. */
  lostThreads: number;
  /** Whether its effect was told to stop, and nobody waits for it. */
  #isGivenUp = false;
  /** Whether it is to have a thread to itself, because it may be what ends threads. */
  isSuspect = false;
  /** Calls off the timer of its deadline, or of the grace after it. */
  cancelTimer: (() => void) | undefined;
  onAbort: (() => void) | undefined;
  /** Its result, when that comes in pieces. */
  stream: IncomingStream | undefined;
  #settle: ((outcome: PoolOutcome) => void) | undefined;

  /** `input` is that of the request, cut off from the program. */
  constructor(
    request: PoolCall,
    input: Wire,
    now: number,
    settle: (outcome: PoolOutcome) => void,
    blobs: readonly Blob[] = [],
  ) {
    this.request = request;
    this.input = input;
    this.blobs = blobs;
    this.bytes = blobs.reduce((sum, { bytes }) => sum + bytes.length, wireBytes(input));
    this.enqueuedAt = now;
    this.lostThreads = request.lostThreads ?? 0;
    this.#settle = settle;
  }

  get isSettled(): boolean {
    return this.#settle === undefined;
  }

  /** Hands the result over before all of it is there. The call goes on, and is settled when the stream has ended. */
  deliver(stream: IncomingStream, result: StreamResult): void {
    const settle = this.#settle;
    this.stream = stream;
    this.#settle = (outcome) => {
      if (outcome.kind === "completed") stream.end(fromWire(outcome.output));
      else if (outcome.kind === "failed") stream.fail(outcome.error);
    };
    settle?.({ kind: "streaming", result });
  }

  settle(outcome: PoolOutcome): void {
    const settle = this.#settle;
    if (!settle) return;
    this.#settle = undefined;
    if (this.onAbort) this.request.signal?.removeEventListener("abort", this.onAbort);
    settle(outcome);
  }

  fail(error: unknown): void {
    this.settle({ kind: "failed", error });
  }

  /** Its effect is told to stop, and whoever made the call waits no longer. */
  stop(reason: unknown): void {
    if (!this.isSettled) this.#isGivenUp = true;
    this.fail(reason);
  }

  /** What its thread says of it when it was given up before. An effect that stopped as it was told to is not late. */
  settleLate(outcome: PoolOutcome): void {
    const { late } = this.request;
    if (!late || !this.#isGivenUp || outcome.kind === "streaming") return;
    if (outcome.kind === "completed") late(undefined);
    else if (!outcome.hasStopped) late({ error: outcome.error });
  }

  /** The thread is done with it, one way or the other. */
  stopTimer(): void {
    this.cancelTimer?.();
    this.cancelTimer = undefined;
  }
}
