// CallRunner: runs the calls of one lane in its thread, and sends back what becomes of them.
//
// Owns       calls not begun, calls under way, messages not sent.
// Leaves     who may run a call to the claims, bytes to the packets, deadlines and blame's consequences to the host.
//
// R1  Every call that was claimed is answered once: completed, or failed.
// R2  Calls begin in the order they came, and each gets to run as far as it can before the next begins: what it does
//     without waiting for the world, its promise reactions among them, is done under its own name.
// R3  A finished call waits for company only while the thread has something short to do. It does not wait for a call that
//     may be long, nor for more than a slice of short ones; the event loop gets its turn after each slice.
// R4  Results leave after the rejections that nobody handles are known, so that a call whose loose promise ends the
//     thread is not first reported as completed.
// R5  When the thread is about to end, what has finished is sent first, and whose doing it is: nothing that was done is
//     done again because it lay in a buffer here. Each call is followed through its timers and promises to know that. On
//     Node 20 this costs a third of a microsecond a call and slows down promises somewhat; later versions do it for less.
// R6  That a call has begun is said before its effect may keep the thread for long.

import { AsyncLocalStorage } from "node:async_hooks";
import type { MessagePort } from "node:worker_threads";
import { discardStreams, StreamResult } from "../../../effects/claim-check/stream-result.js";
import type { Effect } from "../../../effects/index.js";
import { keepRetryHint } from "../../../effects/retry-hint.js";
import type { Redactor } from "../../../effects/secrets/redactor.js";
import { fromWire, toWire, type ValueLimits } from "../../../kernel/codec/index.js";
import { isThenable } from "../../../kernel/deferred.js";
import { HeddleError, hasCode } from "../../../kernel/errors.js";
import type { UsageReport } from "../../../kernel/index.js";
import { checkEventName, checkUsage } from "../../../kernel/request.js";
import { packFailure, postPacket, unpackFailure, unpackPacket } from "../../packets/index.js";
import { withBlobs } from "../blobs.js";
import type { Claims } from "../claims.js";
import {
  type CallMessage,
  type HostMessage,
  isPiece,
  isThreadMessage,
  NOBODY,
  ToHost,
  ToThread,
} from "../protocol.js";
import type { RunningCall } from "../report.js";
import { Attempt } from "./attempt.js";
import type { EffectTable } from "./effect-module.js";
import type { OutgoingStream } from "./outgoing-stream.js";

/** The event loop gets its turn after so long. */
const SLICE_MS = 2;
/** An effect that takes longer without waiting is long: nothing finished waits for it. */
const LONG_MS = 0.25;
/** What an effect emits waits this long at most while the effect keeps the thread. */
const EMIT_DELAY_MS = 10;

export interface CallRunnerOptions {
  readonly port: MessagePort;
  readonly effects: EffectTable;
  /** Around effects whose input refers to secrets. */
  readonly redactor: Redactor | undefined;
  readonly claims: Claims;
  readonly limits: ValueLimits;
  readonly maxCalls: number;
  readonly onRetire: () => void;
}

/** An effect, and how long it last kept the thread without waiting. Unknown is long. */
interface Runnable {
  readonly effect: Effect;
  busyMs: number;
}

const resolved = Promise.resolve();

export class CallRunner {
  readonly #options: CallRunnerOptions;
  #maxCalls: number;
  readonly #runnables: ReadonlyMap<string, Runnable>;
  /** The id of the call that code belongs to. (R5) */
  readonly #tracker = new AsyncLocalStorage<number>();
  #calls: CallMessage[] = [];
  #next = 0;
  readonly #underWay = new Map<number, Attempt>();
  /** Of calls not begun. */
  readonly #blobs = new Map<number, readonly Uint8Array[]>();
  readonly #streams = new Map<number, OutgoingStream>();
  #outbox: HostMessage[] = [];
  #isAdvancing = false;
  #isFlushPlanned = false;
  #sliceEndsAt = 0;
  #lastSentAt = 0;

  constructor(options: CallRunnerOptions) {
    this.#options = options;
    this.#maxCalls = options.maxCalls;
    this.#runnables = new Map([...options.effects].map(([id, effect]) => [id, { effect, busyMs: Infinity }]));
  }

  receive(packet: unknown): void {
    if (isPiece(packet)) {
      const [id, part] = packet;
      if (part instanceof Uint8Array) this.#blobs.set(id, [...(this.#blobs.get(id) ?? []), part]);
      return;
    }
    for (const message of unpackPacket(packet)) {
      if (!isThreadMessage(message)) continue;
      if (message[0] === ToThread.call) this.#calls.push(message);
      else if (message[0] === ToThread.cancel) {
        const attempt = this.#underWay.get(message[1]);
        if (attempt) attempt.abort(unpackFailure(message[2]));
      } else if (message[0] === ToThread.taken) this.#streams.get(message[1])?.pieceTaken();
      else this.#options.onRetire();
    }
    if (this.#isAdvancing || this.#next === this.#calls.length) return;
    this.#isAdvancing = true;
    this.#beginSlice();
  }

  emitFrom({ id }: Attempt, eventType: string, payload: unknown): void {
    checkEventName("event type", eventType);
    const wire = toWire(payload, this.#options.limits);
    // The attempt may be over, and the event void, as in the host's thread.
    if (!this.#underWay.has(id)) return;
    this.#tell([ToHost.emitted, id, eventType, wire]);
  }

  meterFrom({ id }: Attempt, usage: UsageReport): void {
    const { tokens, cost } = checkUsage(usage);
    if (!this.#underWay.has(id)) return;
    this.#tell([ToHost.metered, id, tokens, cost]);
  }

  /** What an effect says while it runs. */
  #tell(message: HostMessage): void {
    this.#outbox.push(message);
    if (performance.now() - this.#lastSentAt > EMIT_DELAY_MS) this.#sendUrgent();
    else this.#planFlush();
  }

  tune(maxCalls: number): void {
    this.#maxCalls = maxCalls;
  }

  inspect(): RunningCall[] {
    const now = performance.now();
    return [...this.#underWay.values()].map(({ effectId, executionId, stepId, attempt, startedAt }) => {
      return { effectId, executionId, stepId, attempt, runningMs: now - startedAt };
    });
  }

  /** R5 */
  lastWords(): void {
    const id = this.#tracker.getStore() ?? NOBODY;
    // R4: it may have finished, and yet this is its doing.
    this.#outbox = this.#outbox.filter(([kind, of]) => of !== id || !isResult(kind));
    this.#outbox.push([ToHost.dying, id]);
    this.#send();
  }

  readonly #beginSlice = (): void => {
    this.#sliceEndsAt = performance.now() + SLICE_MS;
    this.#advance();
  };

  readonly #advance = (): void => {
    for (let now = performance.now(); this.#next < this.#calls.length; ) {
      const message = this.#calls[this.#next] as CallMessage;
      const runnable = this.#runnables.get(message[2]);
      const mayBeLong = runnable !== undefined && runnable.busyMs > LONG_MS;
      const isLoaded = this.#outbox.length >= this.#maxCalls || (mayBeLong && this.#outbox.length > 0);
      if (isLoaded || now > this.#sliceEndsAt) {
        setImmediate(this.#afterSlice); // R3, R4
        return;
      }
      this.#next += 1;
      if (!this.#options.claims.claim(message[1])) {
        this.#blobs.delete(message[1]);
        continue;
      }
      if (message[11]) this.#outbox.push([ToHost.started, message[1]]);
      if (mayBeLong) this.#send(); // R6
      const { isWaiting, endedAt } = this.#begin(message, runnable, now);
      if (isWaiting) {
        // R2: the next one begins once no promise reaction is left to run (see actors/quiet.ts).
        void resolved.then(this.#afterReactions);
        return;
      }
      now = endedAt;
    }
    this.#calls = [];
    this.#next = 0;
    this.#isAdvancing = false;
    if (this.#outbox.length > 0) this.#planFlush();
  };

  readonly #afterReactions = (): void => process.nextTick(this.#advance);

  readonly #afterSlice = (): void => {
    this.#send();
    this.#beginSlice();
  };

  #begin(
    message: CallMessage,
    runnable: Runnable | undefined,
    now: number,
  ): { readonly isWaiting: boolean; readonly endedAt: number } {
    const attempt = new Attempt(message, now, this);
    this.#underWay.set(attempt.id, attempt);
    let result: unknown;
    try {
      if (!runnable) throw unknownEffect(attempt.effectId);
      const input = this.#inputOf(message);
      const { redactor } = this.#options;
      const run = redactor?.isNeeded(input) ? executeWith(redactor) : execute;
      result = this.#tracker.run(attempt.id, run, runnable.effect, input, attempt);
    } catch (error) {
      this.#failed(attempt, error);
      return { isWaiting: false, endedAt: performance.now() };
    }
    const endedAt = performance.now();
    if (runnable) runnable.busyMs = endedAt - now;
    if (!isThenable(result)) {
      this.#completed(attempt, result, endedAt);
      return { isWaiting: false, endedAt };
    }
    // A promise of somebody else's making may call back more than once. (R1)
    const promise = result instanceof Promise ? result : Promise.resolve(result);
    promise.then(
      (value) => this.#completed(attempt, value, performance.now()),
      (error: unknown) => this.#failed(attempt, error),
    );
    return { isWaiting: true, endedAt };
  }

  #inputOf(message: CallMessage): unknown {
    const input = fromWire(message[3]);
    const blobs = message[13];
    if (blobs === null) return input;
    const bytes = this.#blobs.get(message[1]) ?? [];
    this.#blobs.delete(message[1]);
    return withBlobs(
      input,
      blobs.map(([key, isBuffer], i) => ({ key, isBuffer, bytes: bytes[i]! })),
    );
  }

  #completed(attempt: Attempt, value: unknown, now: number): void {
    if (value instanceof StreamResult) return void this.#stream(attempt, value);
    try {
      const output = toWire(value, this.#options.limits);
      this.#answer(attempt, [ToHost.completed, attempt.id, runUs(attempt, now), output]);
    } catch (error) {
      if (hasCode(error, "VALUE_TOO_LARGE")) return void this.#streamLarge(attempt, value, error);
      discardStreams(value);
      this.#failed(attempt, error);
    }
  }

  /** What is too large for a packet can go in pieces. */
  async #streamLarge(attempt: Attempt, value: unknown, tooLarge: unknown): Promise<void> {
    try {
      const { streamOfLarge } = await import("../../../effects/claim-check/large-value.js");
      const stream = streamOfLarge(value);
      if (stream) await this.#stream(attempt, stream);
      else this.#failed(attempt, tooLarge);
    } catch (error) {
      this.#failed(attempt, error);
    }
  }

  /** What sends it is loaded with the first. */
  async #stream(attempt: Attempt, result: StreamResult): Promise<void> {
    const { id } = attempt;
    try {
      const { OutgoingStream } = await import("./outgoing-stream.js");
      const stream = new OutgoingStream(attempt, result, this.#options.port);
      this.#streams.set(id, stream);
      this.#outbox.push([ToHost.streaming, id, stream.form]);
      this.#sendUrgent(); // before the first piece
      // What reads the stream runs code of the call's. (R5)
      const digest = await this.#tracker.run(id, () => stream.send(attempt.signal));
      const output = toWire(digest, this.#options.limits);
      this.#answer(attempt, [ToHost.completed, id, runUs(attempt, performance.now()), output]);
    } catch (error) {
      this.#failed(attempt, error);
    } finally {
      this.#streams.delete(id);
    }
  }

  #failed(attempt: Attempt, error: unknown): void {
    keepRetryHint(error, Date.now()); // what it says of retries may hang on parts of it that no packet can carry
    const failure = packFailure(error, this.#options.limits);
    const hasStopped = attempt.isAborted && error === attempt.signal.reason;
    this.#answer(attempt, [
      ToHost.failed,
      attempt.id,
      runUs(attempt, performance.now()),
      failure,
      hasStopped,
    ]);
  }

  #answer({ id }: Attempt, message: HostMessage): void {
    this.#underWay.delete(id);
    this.#outbox.push(message);
    if (!this.#isAdvancing) this.#planFlush();
  }

  /** R4: unhandled rejections are known before the loop goes on to its next phase. */
  #planFlush(): void {
    if (this.#isFlushPlanned) return;
    this.#isFlushPlanned = true;
    setImmediate(this.#flush);
  }

  readonly #flush = (): void => {
    this.#isFlushPlanned = false;
    this.#send();
  };

  /** What an effect says while it runs does not wait for results that may not leave yet (R4). */
  #sendUrgent(): void {
    const results = this.#outbox.filter(([kind]) => isResult(kind));
    this.#outbox = this.#outbox.filter(([kind]) => !isResult(kind));
    this.#send();
    this.#outbox = results;
    if (results.length > 0) this.#planFlush();
  }

  #send(): void {
    if (this.#outbox.length === 0) return;
    postPacket(this.#options.port, this.#outbox);
    this.#outbox = [];
    this.#lastSentAt = performance.now();
  }
}

function execute(effect: Effect, input: unknown, attempt: Attempt): unknown {
  return effect.execute(input, attempt);
}

function executeWith(redactor: Redactor): typeof execute {
  return (effect, input, attempt) =>
    redactor.around(attempt, input, async (value, ctx = attempt) => effect.execute(value, ctx));
}

function isResult(kind: number): boolean {
  return kind === ToHost.completed || kind === ToHost.failed;
}

function runUs({ startedAt }: Attempt, now: number): number {
  return Math.round((now - startedAt) * 1_000);
}

function unknownEffect(effectId: string): HeddleError {
  return new HeddleError("EFFECT_UNKNOWN", `The effects module exports no effect ${effectId}.`, {
    details: { toolId: effectId },
  });
}
