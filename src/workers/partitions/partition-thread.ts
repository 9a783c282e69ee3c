// PartitionThread: the host's side of the thread that runs some partitions, over all the threads it takes.
//
// Owns       the thread of the moment, the requests without an answer, the pause before the next try.
// Leaves     what news and events mean to its owner, the thread's insides to thread/.
//
// R1  A thread that ends by itself is started again, at once the first time and after growing pauses when it keeps ending.
//     Its partitions recover as after the death of a process.
// R2  What the host may keep open of the thread's log is let go of before the next thread opens it.
// R3  Closing resolves: a thread that does not close in time is ended by force.
// R4  When threads end again and again, it is found out at which execution, and the others go on without it (deaths.ts).

import { setTimeout as delay } from "node:timers/promises";
import { closedError, type Reply } from "../../actors/index.js";
import type { KillRecord } from "../../effects/index.js";
import { afterLong, type Clock, HeddleError } from "../../kernel/index.js";
import { type Packet, packetBytes } from "../packets/index.js";
import type { PoolInspection, TuneOptions } from "../pool/index.js";
import { UserModule } from "../user-module.js";
import type { ThreadDescription } from "./control.js";
import { Deaths } from "./deaths.js";
import {
  type BudgetMessage,
  type HostMessage,
  type ThreadMessage,
  ToHost,
  ToThread,
  unpackForHost,
} from "./protocol.js";
import { type ChangeMessage, Requests, type WaitMessage } from "./requests.js";
import type { ThreadFigures } from "./stats.js";
import { type ThreadEnd, ThreadLife, type ThreadPlan } from "./thread-life.js";

/** What is not an answer. */
export type NewsMessage = Extract<
  HostMessage,
  readonly [
    typeof ToHost.durable | typeof ToHost.event | typeof ToHost.warning | typeof ToHost.storageError,
    ...unknown[],
  ]
>;

export interface ThreadOwner {
  /** Throws when the module of the thread cannot run what this app registered. */
  check(description: ThreadDescription): void;
  heard(message: NewsMessage, thread: PartitionThread): void;
  /** Something counts in budgets. `answer` reaches the very thread that said so, also one that is not open yet. */
  counted(message: BudgetMessage, answer: (message: ThreadMessage) => void): void;
  /** Its partitions are open. */
  opened(thread: PartitionThread): void;
  /** Its partitions are open no more, or will not be. */
  ended(thread: PartitionThread): void;
  warn(message: string): void;
  /** What the app's kill switch stops. */
  stopped(): readonly KillRecord[];
}

type Phase =
  | { readonly kind: "idle" | "closed" }
  | { readonly kind: "opening" | "open"; readonly life: ThreadLife }
  | { readonly kind: "down" };

const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 5_000;
/** What a thread that does not answer gets beyond the deadline of a close. */
const GRACE_MS = 1_000;
const STATS_PATIENCE_MS = 1_000;

export class PartitionThread {
  readonly plan: ThreadPlan;
  /** How often it was started again. */
  restarts = 0;
  readonly #owner: ThreadOwner;
  readonly #clock: Clock;
  readonly #requests = new Requests();
  readonly #closing = new AbortController();
  readonly #deaths = new Deaths();
  /** Limits of the pool that were set since; a thread that is started again gets them too. */
  #tuned: TuneOptions | undefined;
  #phase: Phase = { kind: "idle" };
  /** The last one there was. */
  #life: ThreadLife | undefined;
  #pauseMs = 0;

  constructor(plan: ThreadPlan, owner: ThreadOwner, clock: Clock) {
    this.plan = plan;
    this.#owner = owner;
    this.#clock = clock;
  }

  get numbers(): readonly number[] {
    return this.plan.settings.numbers;
  }

  get isOpen(): boolean {
    return this.#phase.kind === "open";
  }

  /** Loads the module, checks it, opens and recovers the partitions. When it fails the thread is ended. */
  async open(): Promise<void> {
    const life = this.#begin();
    try {
      this.#owner.check(await this.#describe(life));
      const stopped = this.#owner.stopped();
      if (stopped.length > 0) await life.control.ask((thread) => thread.stop(stopped)); // before anything goes on
      await life.control.ask((thread) => thread.open());
      const tuned = this.#tuned;
      if (tuned) await life.control.ask((thread) => thread.tune(tuned));
    } catch (error) {
      this.#phase = { kind: "down" };
      await life.end();
      throw this.#closing.signal.aborted ? closedError() : error;
    }
    if (this.#closing.signal.aborted) throw closedError(); // `close` has it in hand
    this.#phase = { kind: "open", life };
    this.#owner.opened(this); // first of all, so that whoever is answered next reads what it wrote
    for (const message of this.#requests.again()) life.outbox.post(message);
  }

  async #describe({ control }: ThreadLife): Promise<ThreadDescription> {
    const { settings, loadTimeoutMs } = this.plan;
    const description = await control.askWithin(loadTimeoutMs, (thread) => thread.describe());
    if (description) return description;
    throw new UserModule("workers.app", settings.app).overdue(loadTimeoutMs, "workers.loadTimeoutMs");
  }

  /** Numbers a request. */
  next(): number {
    return this.#requests.next();
  }

  change(message: ChangeMessage, reply: Reply<void>): void {
    switch (this.#phase.kind) {
      case "open":
        this.#requests.sent(message, reply);
        return this.#phase.life.outbox.post(message);
      case "closed":
        return reply.reject(closedError());
      default:
        return this.#requests.hold(message, reply);
    }
  }

  wait(message: WaitMessage, reply: Reply<unknown>): void {
    if (this.#phase.kind === "closed") return reply.reject(closedError());
    this.#requests.wait(message, reply);
    this.post(message);
  }

  /** Says something that needs no answer, or is said again to the next thread; nothing while there is none. */
  post(message: ThreadMessage): void {
    if (this.#phase.kind === "open") this.#phase.life.outbox.post(message);
  }

  async close(deadlineMs: number): Promise<void> {
    const phase = this.#phase;
    this.#closing.abort();
    if (phase.kind === "opening" || phase.kind === "open") {
      const { life } = phase;
      const answered = life.control.ask((thread) => thread.close(deadlineMs)).catch(() => {});
      await this.#within(answered, deadlineMs + GRACE_MS); // R3
    }
    await this.#life?.end();
    this.#phase = { kind: "closed" };
    this.#requests.rejectAll(closedError());
    this.#owner.ended(this);
  }

  /** Undefined when there is no thread, or it is too busy to answer. */
  async figures(): Promise<{ readonly utilisation: number; readonly thread: ThreadFigures | undefined }> {
    if (this.#phase.kind !== "open") return { utilisation: 0, thread: undefined };
    const { life } = this.#phase;
    const thread = await life.control
      .askWithin(STATS_PATIENCE_MS, (control) => control.stats())
      .catch(() => undefined); // it ended meanwhile
    return { utilisation: life.utilisation, thread };
  }

  /** What its pool runs; nothing while the thread is being started again. */
  async inspect(): Promise<PoolInspection> {
    return this.#phase.kind === "open" ? this.#phase.life.control.ask((thread) => thread.inspect()) : [];
  }

  async tune(limits: TuneOptions): Promise<void> {
    this.#tuned = { ...this.#tuned, ...limits };
    if (this.#phase.kind === "open") await this.#phase.life.control.ask((thread) => thread.tune(limits));
  }

  /** Sets the thread's kill switch. One that ends meanwhile is told when it is started again. */
  async stop(records: readonly KillRecord[]): Promise<void> {
    if (this.#phase.kind !== "opening" && this.#phase.kind !== "open") return;
    await this.#phase.life.control.ask((thread) => thread.stop(records)).catch(() => {});
  }

  get counts(): Requests["counts"] {
    return this.#requests.counts;
  }

  #begin(): ThreadLife {
    const life = new ThreadLife(
      this.plan,
      this.#deaths.cautionOfNext(),
      (packet) => this.#hear(life, packet),
      (end) => this.#lost(end),
    );
    this.#phase = { kind: "opening", life };
    this.#life = life;
    void life.ended.then((end) => this.#ended(life, end));
    return life;
  }

  #hear(life: ThreadLife, packet: Packet): void {
    const messages = unpackForHost(packet);
    let hasEvents = false;
    for (const message of messages) {
      switch (message[0]) {
        case ToHost.done:
        case ToHost.failed:
        case ToHost.output:
        case ToHost.reached:
          this.#requests.answered(message);
          break;
        case ToHost.totals:
        case ToHost.admit:
        case ToHost.begun:
        case ToHost.takenBack:
        case ToHost.reported:
        case ToHost.settled:
          this.#owner.counted(message, (answer) => life.outbox.post(answer));
          break;
        default:
          hasEvents ||= message[0] === ToHost.event;
          this.#owner.heard(message, this);
      }
    }
    if (hasEvents) life.outbox.post([ToThread.taken, packetBytes(packet)]);
  }

  /** R1 */
  #ended(life: ThreadLife, end: ThreadEnd): void {
    if (this.#closing.signal.aborted) return;
    if (end.isByItself) this.#learnFrom(life);
    if (this.#phase.kind !== "open" || this.#phase.life !== life) return;
    this.#phase = { kind: "down" };
    const lost = this.#lost(end);
    this.#owner.ended(this); // R2
    this.#requests.loseSent(lost);
    this.#owner.warn(`${lost.message} It is started again, and what it was running goes on.`);
    void this.#restart();
  }

  /** R4 */
  #learnFrom(life: ThreadLife): void {
    const moral = this.#deaths.note(performance.now() - life.bornAt);
    if (moral !== undefined) this.#owner.warn(`${this.#title} ${moral}`);
    if (this.#deaths.inARow <= 1) this.#pauseMs = 0;
  }

  async #restart(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await delay(this.#pauseMs, undefined, { signal, ref: true }).catch(() => {});
      this.#pauseMs = Math.min(Math.max(this.#pauseMs * 2, FIRST_PAUSE_MS), LONGEST_PAUSE_MS);
      if (signal.aborted) return;
      this.restarts++;
      try {
        return await this.open();
      } catch (error) {
        if (signal.aborted) return;
        const cause = error instanceof Error ? error : new Error(String(error));
        this.#requests.refuseHeld(this.#lostError(`could not be started again: ${cause.message}`, cause));
        this.#owner.warn(`${this.#title} could not be started again, and it is tried on: ${cause.message}`);
      }
    }
  }

  #lost({ exitCode, error }: ThreadEnd): HeddleError {
    const why = error instanceof Error ? error.message : `it exited with code ${exitCode}`;
    return this.#lostError(`ended: ${why}`, error);
  }

  #lostError(what: string, cause: unknown): HeddleError {
    return new HeddleError(
      "PARTITION_THREAD_LOST",
      `${this.#title} ${what.replace(/\.$/, "")}. What was asked of it may have become durable: starting again with the same ` +
        "executionId attaches to what is there, and a resume with a requestId may be repeated.",
      { cause, details: { partitions: this.numbers } },
    );
  }

  get #title(): string {
    const { numbers } = this;
    return `The thread of partition${numbers.length === 1 ? "" : "s"} ${numbers.join(", ")}`;
  }

  /** Resolves when `done` does, or after so long. */
  #within(done: Promise<unknown>, limitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = afterLong(this.#clock, limitMs, resolve);
      void done.finally(() => {
        cancel();
        resolve();
      });
    });
  }
}
