// Following: the events of an execution as they become durable, for readers that come and go and take their time.
//
// Q1  A reader has every event from its position on once, in order, also where it left and came back.
// Q2  What a slow reader has not taken is in the log and nowhere else: a page at a time is read for it.
// Q3  A reader that leaves, or stands still, is nothing to the execution.

import { type EventEnvelope, isEnding } from "../events.js";
import { isTerminal } from "../status.js";
import type { EventStore } from "./spi.js";

export interface FollowOptions {
  /** The first sequence to give. To go on where a reader left: one more than the last it had. Default 0. */
  readonly from?: number;
  /** Aborted: the reader leaves, and the events end. */
  readonly signal?: AbortSignal;
}

const EVENTS_PER_PAGE = 256;

/**
 * Waits for more when there is nothing to read, also for an execution that has not started. Ends with the event that ends the
 * execution, or when the signal is aborted; a reader that has not seen such an event has not seen the end.
 *
 * @throws what the store fails with
 */
export async function* followEvents(
  store: Pick<EventStore, "find" | "read" | "subscribe">,
  executionId: string,
  { from = 0, signal }: FollowOptions = {},
): AsyncGenerator<EventEnvelope, void, undefined> {
  const news = new News();
  const unsubscribe = store.subscribe(executionId, news.tell);
  signal?.addEventListener("abort", news.tell, { once: true });
  try {
    for (let next = from; ; ) {
      news.clear();
      const page = await store.read(executionId, { from: next, to: next + EVENTS_PER_PAGE - 1 });
      for (const event of page) {
        if (signal?.aborted) return;
        next = event.sequence + 1;
        yield event;
        if (isEnding(event)) return;
      }
      if (signal?.aborted) return;
      if (page.length > 0) continue;
      const header = await store.find(executionId);
      if (header && isTerminal(header.status)) return; // it began behind the end
      await news.come();
      if (signal?.aborted) return;
    }
  } finally {
    unsubscribe();
    signal?.removeEventListener("abort", news.tell);
  }
}

/** Whether there may be more to read. What it is is not kept. (Q2) */
class News {
  #isThere = false;
  #wake: (() => void) | undefined;

  readonly tell = (): void => {
    this.#isThere = true;
    this.#wake?.();
  };

  clear(): void {
    this.#isThere = false;
  }

  come(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      if (this.#isThere) resolve();
    });
  }
}
