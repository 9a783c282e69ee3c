// Outbox: messages on their way to the other thread. All that one turn has to say leaves in as few packets as it fits in.
//
// Owns       the messages that have not left.
//
// O1  They leave once the promise reactions of the turn are done (docs/adr/0003-quiet-by-next-tick.md): a pass that
//     releases a thousand executions is one packet, and one message alone does not wait for others.
// O2  They leave in the order they were posted.

import type { MessagePort } from "node:worker_threads";
import { type Message, postPacket } from "../packets/index.js";

const MESSAGES_MAX = 1_024;

export class Outbox<M extends Message> {
  /** Called before messages leave: the last moment to add some. */
  beforeLeaving: (() => void) | undefined;
  /** Called for each packet that left. */
  left: ((messages: readonly M[], bytes: number) => void) | undefined;
  readonly #port: MessagePort;
  #messages: M[] = [];
  #isPlanned = false;

  constructor(port: MessagePort) {
    this.#port = port;
  }

  post(message: M): void {
    this.#messages.push(message);
    this.plan();
  }

  /** Sees to it that messages leave after this turn. */
  plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    queueMicrotask(this.#afterReactions); // O1
  }

  readonly #afterReactions = (): void => process.nextTick(this.flush);

  readonly flush = (): void => {
    this.#isPlanned = false;
    this.beforeLeaving?.();
    const messages = this.#messages;
    this.#messages = [];
    for (let from = 0; from < messages.length; from += MESSAGES_MAX)
      this.#send(messages.length <= MESSAGES_MAX ? messages : messages.slice(from, from + MESSAGES_MAX));
  };

  #send(messages: readonly M[]): void {
    const bytes = postPacket(this.#port, messages);
    this.left?.(messages, bytes);
  }
}
