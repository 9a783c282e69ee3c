// Subscribers: who wants to see which execution's events, and how far each has been served.
//
// Owns       the subscriptions of one store and the next sequence of each.
// Leaves     reading the past to EventReader, the moment of durability to the partition that publishes.
//
// S1  A subscription sees each event once, in order; what it catches up on and what it is told live never overlap.
// S2  A listener that throws or rejects is reported and contained; nobody else notices.
// S3  Nothing is decoded for an execution nobody subscribes to.
// S4  Where the owner of a partition is elsewhere it is told whose news is wanted, once an execution, and says how far it
//     is durable; subscriptions then read up to there and no further.

import { envelopesOf } from "../envelope.js";
import type { EventEnvelope } from "../events.js";
import type { ExecutionCommit, LogRecord } from "./spi.js";

export type EventListener = (event: EventEnvelope) => void;
/** Told of a listener's failure, or of a catch-up that could not be read. What it throws is dropped. */
export type ListenerErrorHandler = (error: unknown, executionId: string) => void;

export interface Subscription {
  readonly executionId: string;
  readonly listener: EventListener;
  /** Nothing before this sequence is delivered (any more). */
  next: number;
  /** Nothing after this sequence is delivered yet: it may be there to be read and not be durable. (S4) */
  upTo: number;
  /** `behind`: still reading the past, which will also bring what is published meanwhile. */
  state: "behind" | "live" | "ended";
}

/** Where news comes from when another thread owns the partitions. (S4) */
export interface NewsSource {
  begin(executionId: string): void;
  end(executionId: string): void;
}

export class Subscribers {
  source: NewsSource | undefined;
  readonly #byExecution = new Map<string, Set<Subscription>>();
  readonly #onListenerError: ListenerErrorHandler | undefined;

  constructor(onListenerError: ListenerErrorHandler | undefined) {
    this.#onListenerError = onListenerError;
  }

  add(executionId: string, listener: EventListener, from: number | undefined): Subscription {
    const subscription: Subscription = {
      executionId,
      listener,
      next: from ?? 0,
      upTo: Infinity,
      state: from === undefined ? "live" : "behind",
    };
    const others = this.#byExecution.get(executionId);
    if (others) others.add(subscription);
    else {
      this.#byExecution.set(executionId, new Set([subscription]));
      this.source?.begin(executionId);
    }
    return subscription;
  }

  /** Those of an execution as they are now: a listener may subscribe or unsubscribe. */
  of(executionId: string): readonly Subscription[] {
    return [...(this.#byExecution.get(executionId) ?? [])];
  }

  end(subscription: Subscription): void {
    subscription.state = "ended";
    const all = this.#byExecution.get(subscription.executionId);
    if (!all?.delete(subscription) || all.size > 0) return;
    this.#byExecution.delete(subscription.executionId);
    this.source?.end(subscription.executionId);
  }

  /** The subscription has seen everything up to now. */
  goLive(subscription: Subscription): void {
    if (subscription.state === "behind") subscription.state = "live";
  }

  /** There is more to be read. */
  fallBehind(subscription: Subscription): void {
    if (subscription.state === "live") subscription.state = "behind";
  }

  endAll(): void {
    for (const all of this.#byExecution.values())
      for (const subscription of all) subscription.state = "ended";
    this.#byExecution.clear();
  }

  /** Tells the live subscribers of a batch that just became durable. */
  publish(executions: readonly ExecutionCommit[]): void {
    if (this.#byExecution.size === 0) return; // S3
    for (const { header, record } of executions) {
      const all = record && this.#byExecution.get(header.id);
      // A listener may subscribe or unsubscribe: the set is copied.
      if (all)
        for (const subscription of Array.from(all))
          if (subscription.state === "live") this.deliver(subscription, record);
    }
  }

  /** Delivers what of the record the subscription has not seen. */
  deliver(subscription: Subscription, record: LogRecord): void {
    try {
      for (const envelope of envelopesOf(subscription.executionId, record)) {
        if (envelope.sequence < subscription.next) continue; // S1
        if (subscription.state === "ended") return;
        subscription.next = envelope.sequence + 1;
        this.#call(subscription, envelope);
      }
    } catch (error) {
      this.reportError(error, subscription.executionId);
    }
  }

  reportError(error: unknown, executionId: string): void {
    try {
      this.#onListenerError?.(error, executionId);
    } catch {
      // S2: a failing handler of failures has nowhere left to go.
    }
  }

  #call({ listener, executionId }: Subscription, envelope: EventEnvelope): void {
    const report = (error: unknown): void => this.reportError(error, executionId);
    try {
      // An async listener fits the type of a listener; its rejection would otherwise end the host.
      const returned: unknown = listener(envelope);
      if (returned instanceof Promise) returned.catch(report);
    } catch (error) {
      report(error);
    }
  }
}
