// Control: what the host asks a thread outside of its work, through Comlink on a port of its own. Nothing that is
// journaled goes this way.
//
// C1  A question to a thread that ends is answered by EFFECT_WORKER_LOST; Comlink alone would let it hang for ever.
// C2  A question keeps no process alive.

import type { MessagePort } from "node:worker_threads";
import { expose, type Remote, wrap } from "comlink";
import { Deferred } from "../../kernel/deferred.js";
import type { EffectDescription, RunningCall, ThreadFigures } from "./report.js";

/** What a thread answers. */
export interface ThreadControl {
  describe(): EffectDescription[];
  stats(): ThreadFigures;
  inspect(): RunningCall[];
  /** How many results a packet holds before it leaves. */
  tune(maxCalls: number): void;
}

export function exposeControl(control: ThreadControl, port: MessagePort): void {
  expose(control, endpoint(port));
}

/** The host's side of a thread's control. */
export class ControlLine {
  readonly #port: MessagePort;
  readonly #remote: Remote<ThreadControl>;
  readonly #waiting = new Set<{ reject(error: unknown): void }>();
  /** The other side may have closed it first. */
  readonly #closed: Promise<void>;
  #end: Error | undefined;

  constructor(port: MessagePort) {
    this.#port = port;
    this.#closed = new Promise((resolve) => port.once("close", () => resolve()));
    this.#remote = wrap<ThreadControl>(endpoint(port));
    port.unref(); // C2
  }

  ask<T>(question: (thread: Remote<ThreadControl>) => Promise<T>): Promise<T> {
    if (this.#end !== undefined) return Promise.reject(this.#end);
    const answer = new Deferred<T>();
    this.#waiting.add(answer);
    question(this.#remote).then(
      (value) => {
        this.#waiting.delete(answer);
        answer.resolve(value);
      },
      (error: unknown) => {
        this.#waiting.delete(answer);
        answer.reject(error);
      },
    );
    return answer.promise;
  }

  /** Whether an answer is still to come. */
  get isAsked(): boolean {
    return this.#waiting.size > 0;
  }

  /** C1. Resolves when nothing is left of the port. */
  async close(error: Error): Promise<void> {
    this.#end = error;
    for (const answer of this.#waiting) answer.reject(error);
    this.#waiting.clear();
    this.#port.close();
    await this.#closed;
  }
}

type Listener =
  | ((event: { readonly data: unknown }) => void)
  | { handleEvent(event: { readonly data: unknown }): void };

/** A port of Node as Comlink wants it: its listeners get events, and may be objects. */
function endpoint(port: MessagePort) {
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
