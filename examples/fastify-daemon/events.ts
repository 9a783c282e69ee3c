// EventStreams: the log of an execution as Server-Sent Events, for clients that come and go.
//
// Owns       the open streams of a service, and how each of them ends.
// Leaves     HTTP to the routes, order and durability to heddle's log.
//
// E1  A stream is read from the log, page by page, when its client has taken what came before. The subscription only
//     rings a bell, so a client that does not read costs one page of memory, however much happens meanwhile.
// E2  An event's id is its sequence in the log. A client that comes back with the last one it saw misses nothing and sees
//     nothing twice, whichever process serves it by then.
// E3  A stream ends after the event that ends its execution, when its client has gone, or when the service closes; each
//     of them ends its subscription as well.

import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import type { EventEnvelope, HeddleApp } from "heddle";
import { RequestInvalid } from "./errors.js";
import { toJson } from "./views.js";

export interface StreamOptions {
  /** The sequence of the last event the client has seen; -1 for none. */
  readonly after: number;
  /** What carries the stream: when it closes, the stream ends. */
  readonly response: ServerResponse;
}

const PAGE_EVENTS = 256;
/** A quiet stream says something now and then, or proxies would take it for dead. */
const KEEP_ALIVE_MS = 15_000;
/** How long clients wait before they come back. */
const RETRY_MS = 1_000;
const LAST_EVENTS: ReadonlySet<string> = new Set([
  "EXECUTION_COMPLETED",
  "EXECUTION_FAILED",
  "EXECUTION_CANCELLED",
]);
const ENDED: ReadonlySet<string> = new Set(["completed", "failed", "cancelled"]);

export class EventStreams {
  readonly #app: Pick<HeddleApp, "runtime" | "stores">;
  readonly #open = new Set<AbortController>();
  #closed = false;

  constructor(app: Pick<HeddleApp, "runtime" | "stores">) {
    this.#app = app;
  }

  /** Streams that are being served. */
  get size(): number {
    return this.#open.size;
  }

  /** The events after `after`, or undefined when the execution has ended and the client has seen all of them. */
  async open(executionId: string, { after, response }: StreamOptions): Promise<Readable | undefined> {
    const { status, sequence } = await this.#app.runtime.loadState(executionId);
    if (after > sequence) {
      // Not an id of ours. Taken at its word, the client would miss events without knowing.
      const message = `the last event of ${executionId} is ${sequence}`;
      throw new RequestInvalid("headers", [{ path: "last-event-id", message }]);
    }
    if (after === sequence && ENDED.has(status)) return undefined;
    const ending = new AbortController();
    // The client, or the service, may have gone while the state was read.
    if (this.#closed || response.destroyed) ending.abort();
    else {
      this.#open.add(ending);
      response.once("close", () => {
        this.#open.delete(ending);
        ending.abort();
      });
    }
    return Readable.from(this.#lines(executionId, after + 1, ending.signal));
  }

  /** Ends all streams. Their clients may come back with the last id they saw. */
  close(): void {
    this.#closed = true;
    for (const ending of this.#open) ending.abort();
  }

  async *#lines(executionId: string, from: number, ending: AbortSignal): AsyncGenerator<string> {
    const bell = new Bell();
    const ring = (): void => bell.ring();
    ending.addEventListener("abort", ring);
    const { eventStore } = this.#app.stores;
    const unsubscribe = eventStore.subscribe(executionId, ring);
    try {
      yield `retry: ${RETRY_MS}\n\n`; // also what sends the head of the response, before anything has happened
      for (let next = from; !ending.aborted; ) {
        const page = await eventStore.read(executionId, { from: next, to: next + PAGE_EVENTS - 1 }); // E1
        for (const event of page) {
          if (ending.aborted) return; // E3
          yield inLines(event);
          if (LAST_EVENTS.has(event.type)) return; // E3
        }
        next += page.length;
        if (page.length === PAGE_EVENTS) continue;
        if (!(await bell.rung(KEEP_ALIVE_MS))) yield ": still here\n\n";
      }
    } finally {
      unsubscribe();
      ending.removeEventListener("abort", ring);
    }
  }
}

function inLines({ sequence, type, timestamp, payload }: EventEnvelope): string {
  // JSON has no line breaks of its own, so one line of data holds it.
  return `id: ${sequence}\nevent: ${type}\ndata: ${toJson({ timestamp, payload })}\n\n`; // E2
}

/** Wakes one waiter. A ring that comes while nobody waits is kept for the next one who does. */
class Bell {
  #rang = false;
  #wake: (() => void) | undefined;

  ring(): void {
    this.#rang = true;
    this.#wake?.();
  }

  /** True at the next ring, false when there is none for so many milliseconds. */
  async rung(withinMs: number): Promise<boolean> {
    if (!this.#rang) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, withinMs);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#wake = undefined;
    }
    const rang = this.#rang;
    this.#rang = false;
    return rang;
  }
}
