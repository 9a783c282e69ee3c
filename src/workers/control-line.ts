// Control: what the host asks a thread outside of its work, through Comlink on a port of its own. Nothing that is
// journaled goes this way.
//
// C1  A question to a thread that ends is answered by the error it ended with; Comlink alone would let it hang for ever.
// C2  A question keeps no process alive.

import type { MessagePort } from "node:worker_threads";
import { type Endpoint, expose, type Remote, wrap } from "comlink";
import { packRecord, unpackRecord, type Wire } from "../kernel/codec/index.js";
import { Deferred } from "../kernel/deferred.js";
import { packFailure, unpackFailure } from "./packets/index.js";

/** What a thread offers: each question is answered, and never by throwing (`answer`). */
export type Control<T> = { readonly [K in keyof T]: (...args: never[]) => unknown };

/** An answer, or why there is none, in bytes: Comlink keeps no more of an error than its name and words. */
export type Answer<T> = { readonly value: T } | { readonly failure: Uint8Array };

export async function answer<T>(find: () => T | Promise<T>): Promise<Answer<T>> {
  try {
    return { value: await find() };
  } catch (error) {
    return { failure: packRecord([packFailure(error)]) };
  }
}

export function exposeControl<T extends Control<T>>(control: T, port: MessagePort): void {
  expose(control, endpoint(port));
}

/** The host's side. */
export class ControlLine<T extends Control<T>> {
  readonly #port: MessagePort;
  readonly #remote: Remote<T>;
  readonly #waiting = new Set<{ reject(error: unknown): void }>();
  /** The other side may have closed it first. */
  readonly #closed: Promise<void>;
  #end: Error | undefined;

  constructor(port: MessagePort) {
    this.#port = port;
    this.#closed = new Promise((resolve) => port.once("close", () => resolve()));
    this.#remote = wrap<T>(endpoint(port));
    port.unref(); // C2
  }

  async ask<A>(question: (thread: Remote<T>) => Promise<Answer<A>>): Promise<A> {
    if (this.#end !== undefined) throw this.#end;
    const asked = new Deferred<Answer<A>>();
    this.#waiting.add(asked);
    question(this.#remote).then(asked.resolve, (error: unknown) => asked.reject(error));
    try {
      const answered = await asked.promise;
      if ("failure" in answered) throw failureOf(answered.failure);
      return answered.value;
    } finally {
      this.#waiting.delete(asked);
    }
  }

  /** The same, with patience for so long; undefined: there was no answer by then. */
  async askWithin<A>(
    delayMs: number,
    question: (thread: Remote<T>) => Promise<Answer<A>>,
  ): Promise<A | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<undefined>((resolve) => {
      timer = setTimeout(resolve, delayMs, undefined);
    });
    try {
      return await Promise.race([this.ask(question), tooLate]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Whether an answer is still to come. */
  get isAsked(): boolean {
    return this.#waiting.size > 0;
  }

  /** C1. Resolves when nothing is left of the port. */
  async close(error: Error): Promise<void> {
    this.#end ??= error;
    for (const asked of this.#waiting) asked.reject(error);
    this.#waiting.clear();
    this.#port.close();
    await this.#closed;
  }
}

function failureOf(bytes: Uint8Array): unknown {
  const [failure] = unpackRecord(bytes) as readonly Wire[];
  return unpackFailure(failure);
}

/** As the types of the browser have it, which Comlink's refer to and Node's do not bring. */
type Listener =
  | ((event: { readonly data: unknown }) => void)
  | { handleEvent(event: { readonly data: unknown }): void };

/** A port of Node as Comlink wants it: its listeners get events, and may be objects. */
function endpoint(port: MessagePort): Endpoint {
  const handlers = new WeakMap<Listener, (data: unknown) => void>();
  return {
    postMessage: (message: unknown) => port.postMessage(message),
    addEventListener: (_type: string, listener: Listener) => {
      const handler = (data: unknown): void => {
        if (typeof listener === "function") listener({ data });
        else listener.handleEvent({ data });
      };
      handlers.set(listener, handler);
      port.on("message", handler);
    },
    removeEventListener: (_type: string, listener: Listener) => {
      const handler = handlers.get(listener);
      if (handler) port.off("message", handler);
    },
    start: () => port.start(),
  };
}
