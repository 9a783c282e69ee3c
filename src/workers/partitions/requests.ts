// Requests: what the host has asked a partition thread and not heard about.
//
// Q1  A change (start, resume, cancel, verdict) that was sent when the thread ended may have become durable or not: whoever asked
//     is told so. One that was not sent yet waits for the next thread.
// Q2  A wait (watch, result) changes nothing, so it is asked again of the next thread; whoever waits does not notice.
// Q3  Each is settled once.

import type { Reply } from "../../actors/index.js";
import { fromWire } from "../../kernel/index.js";
import { unpackFailure } from "../packets/index.js";
import {
  type CancelMessage,
  type HostMessage,
  type ResultMessage,
  type ResumeMessage,
  type StartMessage,
  ToHost,
  type VerdictMessage,
  type WatchMessage,
} from "./protocol.js";

export type ChangeMessage = StartMessage | ResumeMessage | CancelMessage | VerdictMessage;
export type WaitMessage = WatchMessage | ResultMessage;
export type AnswerMessage = Extract<
  HostMessage,
  readonly [
    typeof ToHost.done | typeof ToHost.failed | typeof ToHost.output | typeof ToHost.reached,
    ...unknown[],
  ]
>;

interface Change {
  readonly message: ChangeMessage;
  readonly reply: Reply<void>;
}

interface Wait {
  readonly message: WaitMessage;
  /** Gets the sequence a watched execution got to, or the output of its flow. */
  readonly reply: Reply<unknown>;
}

export class Requests {
  #last = 0;
  readonly #sent = new Map<number, Reply<void>>();
  #held: Change[] = [];
  readonly #waits = new Map<number, Wait>();

  /** A number no other request has. */
  next(): number {
    this.#last++;
    return this.#last;
  }

  /** Changes without an answer, and callers who wait. */
  get counts(): { readonly changes: number; readonly waits: number } {
    return { changes: this.#sent.size + this.#held.length, waits: this.#waits.size };
  }

  sent(message: ChangeMessage, reply: Reply<void>): void {
    this.#sent.set(message[1], reply);
  }

  hold(message: ChangeMessage, reply: Reply<void>): void {
    this.#held.push({ message, reply });
  }

  wait(message: WaitMessage, reply: Reply<unknown>): void {
    this.#waits.set(message[1], { message, reply });
  }

  answered(message: AnswerMessage): void {
    const [, request] = message;
    const reply = this.#sent.get(request) ?? this.#waits.get(request)?.reply;
    this.#sent.delete(request);
    this.#waits.delete(request);
    if (!reply) return; // Q3: given up meanwhile
    switch (message[0]) {
      case ToHost.done:
        return reply.resolve(undefined);
      case ToHost.failed:
        return reply.reject(unpackFailure(message[2]));
      case ToHost.output:
        return reply.resolve(fromWire(message[2]));
      case ToHost.reached:
        return reply.resolve(message[2]);
    }
  }

  /** Everything to be asked of a new thread: what waits, and what was held back. (Q2, Q1) */
  *again(): Generator<WaitMessage | ChangeMessage> {
    for (const { message } of this.#waits.values()) yield message;
    const held = this.#held;
    this.#held = [];
    for (const { message, reply } of held) {
      this.#sent.set(message[1], reply);
      yield message;
    }
  }

  /** Q1 */
  loseSent(error: Error): void {
    const lost = [...this.#sent.values()];
    this.#sent.clear();
    for (const reply of lost) reply.reject(error);
  }

  refuseHeld(error: Error): void {
    const held = this.#held;
    this.#held = [];
    for (const { reply } of held) reply.reject(error);
  }

  rejectAll(error: Error): void {
    this.loseSent(error);
    this.refuseHeld(error);
    const waits = [...this.#waits.values()];
    this.#waits.clear();
    for (const { reply } of waits) reply.reject(error);
  }
}
