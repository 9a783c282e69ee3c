// Partition: the loop that owns one partition of the log and everything that happens in it.
//
// Owns       the actors in memory, their queue, the order of commits and releases.
// Leaves     what a message means to the actor, how actors come into memory to intake, storage to the PartitionLog.
// Talks to   callers through replies and watchers, never by throwing at them later.
//
// A pass takes what is ready, advances it, commits it, and releases it:
//
// P1  Everything the actors of a pass did goes into one commit; commits are handed to the log in the order of passes.
// P2  Nothing leaves before its commit is durable: no effect, no answer to a caller, no event to a subscriber.
// P3  Releases keep the order of passes, though pass N+1 may advance while commit N is on its way.
// P4  After a failed commit what is in memory is ahead of the log, so all of it is dropped and everyone waiting is told;
//     the partition then probes the log and, once it takes writes again, recovers from it as a fresh process would.
// P5  One execution that cannot go on is set aside; it stops no other.

import type { EffectExecutor, Ledger, Outcome } from "../effects/index.js";
import {
  afterLong,
  type Clock,
  type Entropy,
  type ExecutableTask,
  type ExecutionState,
  HeddleError,
  isTerminal,
  type MeterRow,
  NO_VAULT,
  type PartitionLog,
  type Unseal,
  usedIn,
  type ValueLimits,
  type Vault,
} from "../kernel/index.js";
import type { Actor, Move } from "./actor.js";
import { Admission } from "./admission.js";
import { Backlog } from "./backlog.js";
import type { Caution, Footprints } from "./caution.js";
import type { FlowRegistry } from "./flow-registry.js";
import type { InFlight } from "./in-flight.js";
import { Inquiries, type InquiriesHost } from "./inquiries.js";
import { Intake, type IntakeHost, type StartRequest } from "./intake.js";
import type { Message, Reply, ResumeRequest } from "./messages.js";
import type { Observer } from "./observer.js";
import { Probe } from "./probe.js";
import { closedError } from "./refusals.js";
import { Residency } from "./residency.js";
import { advance, advanceOneByOne } from "./rounds.js";
import type { StateReader } from "./state-reader.js";
import { Timers } from "./timers.js";
import type { Awaited } from "./watchers.js";

export interface PartitionOptions {
  readonly log: PartitionLog;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly limits: ValueLimits;
  /** Default: without a key. */
  readonly vault?: Vault | undefined;
  readonly executor: EffectExecutor;
  readonly registry: FlowRegistry;
  readonly observer: Observer;
  readonly states: StateReader;
  /** Idle actors kept in memory. 0 drops every run between its turns. */
  readonly maxResident: number;
  /** Awaited before each pass, when it gives something to await: whoever hears of what a partition does may slow it down. */
  readonly pace?: (() => Promise<void> | undefined) | undefined;
  /** Shared by the partitions of a thread. Default: no bound. */
  readonly admission?: Admission | undefined;
  /** Where threads of these partitions have ended again and again. */
  readonly caution?: Caution | undefined;
  /** Shared by the partitions of a thread. Default: nothing is counted. */
  readonly ledger?: Ledger | undefined;
}

export interface PartitionLoad {
  /** Executions in memory. */
  readonly resident: number;
  /** Executions with something to do in the next pass. */
  readonly ready: number;
  /** Attempts under way. */
  readonly attempts: number;
  /** Attempts that wait for room in the effect pool. */
  readonly heldBack: number;
  /** Commits on their way to the disk. */
  readonly commits: number;
}

/** Commits under way at once: one being flushed, one being filled. More would only wait behind the disk. */
const COMMITS_IN_FLIGHT_MAX = 2;
/** Executions a pass takes at least, if they are ready: commits are shared for the sake of the flush. */
const PASS_LEAST = 256;

type Condition =
  | { readonly kind: "open" }
  | { readonly kind: "failed"; readonly error: HeddleError }
  | { readonly kind: "closing" }
  | { readonly kind: "closed" };

export class Partition implements IntakeHost, InquiriesHost {
  readonly entropy: Entropy;
  readonly limits: ValueLimits;
  readonly partition: number;
  readonly ledger: Ledger | undefined;
  readonly vault: Vault;
  readonly #log: PartitionLog;
  readonly #clock: Clock;
  readonly #executor: EffectExecutor;
  readonly #observer: Observer;
  readonly #states: StateReader;
  readonly #maxResident: number;
  readonly #pace: PartitionOptions["pace"];
  readonly #admission: Admission;
  readonly #footprints: Footprints | undefined;
  readonly #backlog: Backlog;
  readonly #actors = new Map<string, Actor>();
  readonly #inquiries: Inquiries;
  readonly #residency: Residency;
  readonly #timers: Timers;
  readonly #intake: Intake;
  readonly #probe: Probe;
  #condition: Condition = { kind: "open" };
  /** Counts the times everything in memory was dropped; what an earlier generation still does is void. */
  #generation = 0;
  #ready: Actor[] = [];
  #running = false;
  #commitsInFlight = 0;
  #released: Promise<void> = Promise.resolve();
  /** The same, without the latest commit. */
  #earlierReleased: Promise<void> = Promise.resolve();
  /** Attempts dispatched and not settled, abandoned ones included. */
  #attempts = 0;
  #whenDrained: (() => void) | undefined;

  constructor(options: PartitionOptions) {
    this.entropy = options.entropy;
    this.limits = options.limits;
    this.partition = options.log.partition;
    this.ledger = options.ledger;
    this.ledger?.follow(this.partition, (id) => this.#actors.get(id)?.spender);
    this.vault = options.vault ?? NO_VAULT;
    this.#log = options.log;
    this.#clock = options.clock;
    this.#executor = options.executor;
    this.#observer = options.observer;
    this.#states = options.states;
    this.#maxResident = options.maxResident;
    this.#pace = options.pace;
    this.#admission = options.admission ?? new Admission();
    this.#admission.onRoom(() => this.#wake());
    this.#footprints = options.caution?.footprints;
    this.#residency = new Residency(options.maxResident);
    this.#backlog = new Backlog(options.executor, (attempt) => this.#dispatch(attempt));
    this.#timers = new Timers(options.log, options.clock, () => this.#wake());
    this.#intake = new Intake({
      log: options.log,
      registry: options.registry,
      timers: this.#timers,
      admission: this.#admission,
      quarantined: options.caution?.quarantined,
      host: this,
    });
    this.#inquiries = new Inquiries({ ...options, vault: this.vault, host: this });
    this.#probe = new Probe({
      clock: options.clock,
      attempt: () => options.log.commit({ executions: [] }),
      onSuccess: () => void this.#reopen(),
    });
  }

  // ── Doors ─────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Brings what the log says of budgets into the ledger: before anything that counts in them goes on, in any partition. */
  async bringTotals(): Promise<void> {
    this.ledger?.load(this.partition, await this.#log.meters());
  }

  /** Takes up everything that was at work when the log was last written. */
  async recover(): Promise<void> {
    this.#intake.scanAll();
    await this.#timers.start();
    this.#wake();
  }

  /** Looks again at executions that were set aside: a flow they need may have been registered. */
  retrySetAside(): void {
    if (!this.isClosing) this.#timers.lookAgain(); // the retries that came due meanwhile
    this.#intake.scanSetAside();
    this.#wake();
  }

  /** Starts an execution, or attaches to the one that has its id, flow and input. Answers when that is durable. */
  start(request: StartRequest): void {
    if (this.#refuses(request.reply)) return;
    this.#admission.awaits();
    this.#intake.start(request);
    this.#wake();
  }

  /** Hands a message to an execution, in memory or not. */
  send(executionId: string, message: Message): void {
    if ("reply" in message ? this.#refuses(message.reply) : !this.#working) return;
    const actor = this.#actors.get(executionId);
    if (actor) {
      actor.post(message);
    } else {
      this.#intake.send(executionId, message);
      this.#wake();
    }
  }

  /** Waits until the execution gets there, as far as it is durable. */
  watch(executionId: string, awaited: Awaited): Promise<ExecutionState> {
    this.#admission.awaits();
    return this.#inquiries.watch(executionId, awaited);
  }

  /** Waits for the output of the flow. */
  result(executionId: string): Promise<unknown> {
    this.#admission.awaits();
    return this.#inquiries.result(executionId);
  }

  /** What there is in memory and what waits, by number. */
  get load(): PartitionLoad {
    return {
      resident: this.#actors.size,
      ready: this.#ready.length,
      attempts: this.#attempts,
      heldBack: this.#backlog.size,
      commits: this.#commitsInFlight,
    };
  }

  /** The state as of everything that is durable by now. */
  state(executionId: string, unseal?: Unseal): Promise<ExecutionState> {
    return this.#inquiries.state(executionId, unseal);
  }

  async flowOf(executionId: string): Promise<string | undefined> {
    return this.#actors.get(executionId)?.flowId ?? (await this.#inquiries.flowOf(executionId));
  }

  /**
   * Takes no more work, lets steps in flight end until the deadline, then aborts them; what has not ended goes on when
   * the log is opened next.
   */
  async close(deadlineMs: number): Promise<void> {
    if (this.#condition.kind === "closed" || this.#condition.kind === "closing") return;
    if (this.#condition.kind === "open") {
      this.#condition = { kind: "closing" };
      // What is not at work by now is left to the next opening.
      this.#intake.giveUpScans();
      this.#intake.rejectHeld(closedError());
      this.#timers.stop();
      await this.#drained(deadlineMs);
    }
    this.#condition = { kind: "closed" };
    this.#probe.stop();
    this.#dropEverything(closedError());
    await this.#released;
    await this.#log.close();
  }

  // ── IntakeHost ────────────────────────────────────────────────────────────────────────────────────────────────

  find(executionId: string): Actor | undefined {
    return this.#actors.get(executionId);
  }

  admit(actor: Actor): void {
    this.#actors.set(actor.id, actor);
    this.#count(actor);
  }

  /** Lets an actor leave memory. */
  #forget(actor: Actor): void {
    this.#actors.delete(actor.id);
    this.#intake.left(actor.id);
    if (!actor.holdsSlot) return;
    actor.holdsSlot = false;
    this.#admission.leave();
  }

  /** Brings the count of executions at work up to date with how this one stands. */
  #count(actor: Actor): void {
    const isAtWork = actor.status === "running" && actor.handlersWaiting === 0;
    if (isAtWork === actor.holdsSlot) return;
    actor.holdsSlot = isAtWork;
    if (isAtWork) this.#admission.enter();
    else this.#admission.leave();
  }

  enqueue(actor: Actor): void {
    if (actor.queued || this.#actors.get(actor.id) !== actor) return;
    actor.queued = true;
    this.#residency.remove(actor);
    this.#ready.push(actor);
    this.#wake();
  }

  warn(message: string): void {
    this.#observer.warn(message);
  }

  get isClosing(): boolean {
    return this.#condition.kind !== "open";
  }

  waitsForTimers(actor: Actor, now: number): boolean {
    if (this.isClosing || !this.#timers.isDue(now)) return false;
    this.enqueue(actor);
    return true;
  }

  mayRepeat(task: ExecutableTask): boolean {
    return this.#executor.mayRepeat?.(task) ?? task.idempotent ?? true;
  }

  attach(request: StartRequest): void {
    const { reply } = request;
    const actor = this.#actors.get(request.executionId);
    const answer = (): void => this.#inquiries.answerTakenId(request);
    // Whoever took the id in this very pass becomes durable with it, not before.
    if (actor?.changed) actor.answerWhenDurable({ resolve: answer, reject: (error) => reply.reject(error) });
    else answer();
  }

  answerClosedResume(executionId: string, request: ResumeRequest, reply: Reply<void>): void {
    this.#inquiries.answerClosedResume(executionId, request, reply);
  }

  // ── InquiriesHost ─────────────────────────────────────────────────────────────────────────────────────────────

  /** Resolves when everything handed to the log so far is released; never rejects. */
  get released(): Promise<void> {
    return this.#released;
  }

  get refusal(): HeddleError | undefined {
    return this.#working ? undefined : this.#unavailable(this.#condition);
  }

  // ── The loop ──────────────────────────────────────────────────────────────────────────────────────────────────

  #wake(): void {
    if (this.#running || !this.#working) return;
    this.#running = true;
    this.#clock.soon(() => void this.#run());
  }

  /** The one place that awaits between passes. */
  async #run(): Promise<void> {
    try {
      while (this.#working && this.#hasWork()) {
        const pause = this.#pace?.();
        if (pause) await pause;
        await this.#pass();
        if (this.#commitsInFlight >= COMMITS_IN_FLIGHT_MAX) await this.#earlierReleased;
        else await new Promise<void>((resolve) => this.#clock.soon(resolve));
      }
    } catch (error) {
      this.#fail(error);
    }
    this.#running = false;
    if (this.#working && this.#hasWork()) this.#wake();
    this.#checkDrained();
  }

  get #working(): boolean {
    return this.#condition.kind === "open" || this.#condition.kind === "closing";
  }

  #hasWork(): boolean {
    return this.#ready.length > 0 || this.#intake.hasWork(this.#clock.now());
  }

  async #pass(): Promise<void> {
    const now = this.#clock.now();
    if (this.#intake.hasWork(now)) await this.#intake.take(now);
    if (!this.#working) return this.#dropEverything(this.#unavailable(this.#condition)); // it failed or closed meanwhile
    const actors = this.#takeReady();
    for (const actor of actors) actor.queued = false;
    const generation = this.#generation;
    await this.#intake.restore(actors);
    const unfinished = this.#footprints
      ? await advanceOneByOne(this.#footprints, actors, now)
      : await advance(actors, now);
    for (const actor of unfinished) this.enqueue(actor);
    this.#commit(actors, now, generation);
  }

  /**
   * Not more than half of what is here, unless that is little: when everybody moves in step, one half advances while the
   * commit of the other is under way.
   */
  #takeReady(): Actor[] {
    const ready = this.#ready;
    const most = Math.max(PASS_LEAST, this.#actors.size / 2);
    this.#ready = ready.length > most ? ready.splice(most) : [];
    return ready;
  }

  #commit(actors: readonly Actor[], now: number, generation: number): void {
    const moves: Move[] = [];
    for (const actor of actors) {
      const move = actor.takeMove(now);
      if (generation === this.#generation) this.#count(actor);
      if (move) moves.push(move);
      else if (generation === this.#generation) this.#unmoved(actor);
    }
    if (moves.length === 0) return;
    if (generation !== this.#generation) {
      // A commit failed while this pass advanced: what it did rests on what is not there (P4).
      this.#reject(moves, this.#unavailable(this.#condition));
      return;
    }
    this.#observer.appended(moves);
    const meters = this.#settle(moves, now);
    const committed = this.#log.commit({ executions: moves, ...(meters && { meters }) });
    this.#commitsInFlight++;
    const before = this.#released;
    this.#earlierReleased = before;
    this.#released = committed.then(
      async () => {
        await before; // P3
        this.#commitsInFlight--;
        this.#release(moves, generation);
        this.#checkDrained();
      },
      async (error: unknown) => {
        await before;
        this.#commitsInFlight--;
        if (generation === this.#generation) this.#fail(error);
        this.#reject(moves, this.#unavailable(this.#condition));
      },
    );
  }

  /** What attempts have used that are over with these moves: it counts from now on, and is durable with them. */
  #settle(moves: readonly Move[], now: number): readonly MeterRow[] | undefined {
    const { ledger } = this;
    if (!ledger) return undefined;
    for (const { actor, record } of moves) {
      if (!actor.spender || !record) continue;
      for (const event of record.events) {
        const used = usedIn(event);
        if (used) ledger.settle(actor.spender, used, now);
      }
    }
    return ledger.takeRows(this.partition);
  }

  // ── Release ───────────────────────────────────────────────────────────────────────────────────────────────────

  /** P2: everything that waited for these moves to be durable. */
  #release(moves: readonly Move[], generation: number): void {
    this.#observer.durable(moves);
    if (generation !== this.#generation) {
      // What is in memory is not theirs any more, but they are in the log: whoever asked for them must not hear otherwise.
      for (const { replies } of moves) for (const reply of replies) reply.resolve();
      this.#reject(moves, this.#unavailable(this.#condition));
      return;
    }
    for (const move of moves) {
      const { actor } = move;
      actor.unreleased--;
      actor.durable = move.standing;
      if (move.arm.length > 0) this.#timers.armed(move.arm);
      if (move.disarm.length > 0) this.#timers.disarmed(move.disarm);
      for (const attempt of move.dispatches) this.#backlog.offer(attempt);
      for (const reply of move.replies) reply.resolve();
      for (const { request, reply } of move.closedResumes) this.answerClosedResume(actor.id, request, reply);
      this.#inquiries.moved(move);
      if (move.record && this.#states.isCheckpoint(move.record.sequence, move.header.sequence))
        this.#checkpoint(actor, move.header.sequence);
      this.#retire(actor);
    }
  }

  /** An actor whose pass changed nothing: it may still be news to a watcher how it stands. */
  #unmoved(actor: Actor): void {
    if (actor.unreleased === 0) {
      actor.durable = actor.standing;
      this.#inquiries.stands(actor.id, actor.durable);
    }
    this.#retire(actor);
  }

  #dispatch(attempt: InFlight): void {
    const actor = this.#actors.get(attempt.executionId);
    if (this.#condition.kind !== "open" || !actor?.awaits(attempt)) return;
    this.#attempts++;
    attempt.isDispatched = true;
    attempt.account = actor.openAccount();
    const settle = (outcome: Outcome): void => {
      this.#attempts--;
      if (attempt.isCalledOff) attempt.noteLate(outcome);
      else actor.post({ kind: "settled", attempt, outcome });
      this.#checkDrained();
    };
    if (!this.#footprints && !this.#admission.isBounded) return this.#executor.dispatch(attempt, settle);
    const begin = (whenOver?: () => void): void =>
      this.#executor.dispatch(attempt, (outcome) => {
        whenOver?.();
        settle(outcome);
      });
    if (this.#footprints) this.#footprints.follow(actor.id, begin);
    else this.#admission.follow(begin, (by) => this.#lend(actor, by));
  }

  /** So many more, or fewer, of its handlers wait for other executions. */
  #lend(actor: Actor, by: 1 | -1): void {
    actor.handlersWaiting += by;
    if (this.#actors.get(actor.id) === actor) this.#count(actor);
  }

  #checkpoint({ id, key }: Actor, sequence: number): void {
    this.#states
      .checkpoint(this.#log, { id, key }, sequence)
      .catch((error: unknown) => this.#observer.storageError(id, error));
  }

  /** Lets an actor leave memory once nothing of it is under way. */
  #retire(actor: Actor): void {
    if (actor.idle && (isTerminal(actor.status) || actor.aside)) {
      this.#forget(actor);
    } else if (this.#maxResident === 0) {
      if (!actor.quiescent || actor.hasMail) return;
      actor.dropRun();
      if (actor.idle) this.#forget(actor);
    } else if (actor.idle) {
      const evicted = this.#residency.admit(actor);
      if (evicted) this.#forget(evicted);
    }
  }

  // ── Failure and closing ───────────────────────────────────────────────────────────────────────────────────────

  /** P4 */
  #fail(cause: unknown): void {
    if (!this.#working) return;
    const error =
      cause instanceof HeddleError
        ? cause
        : new HeddleError(
            "STORAGE_FAILED",
            `Partition ${this.#log.partition} could not go on: ${describe(cause)}`,
            { cause },
          );
    const closing = this.#condition.kind === "closing";
    this.#condition = { kind: "failed", error };
    this.#observer.storageError("", error);
    this.#dropEverything(error);
    if (closing) this.#whenDrained?.();
    else this.#probe.start();
  }

  #reject(moves: readonly Move[], error: HeddleError): void {
    for (const { replies, closedResumes } of moves) {
      for (const reply of replies) reply.reject(error);
      for (const { reply } of closedResumes) reply.reject(error);
    }
  }

  #dropEverything(error: HeddleError): void {
    this.#generation++;
    for (const actor of this.#actors.values()) {
      actor.abortAttempts(error);
      actor.rejectMail(error);
      actor.dropDraft(error);
      actor.dropRun();
      this.#forget(actor);
    }
    this.#ready = [];
    this.#residency.clear();
    this.#intake.rejectAll(error);
    this.#backlog.clear();
    this.#timers.stop();
    this.#inquiries.rejectAll(error);
  }

  /** The log takes writes again. (P4) */
  async #reopen(): Promise<void> {
    await this.#released;
    if (this.#condition.kind !== "failed") return;
    this.#condition = { kind: "open" };
    this.warn(
      `Partition ${this.#log.partition} takes writes again; what was running is recovered from the log.`,
    );
    try {
      await this.bringTotals();
      await this.recover();
    } catch (error) {
      this.#fail(error);
    }
  }

  #drained(deadlineMs: number): Promise<void> {
    return new Promise((resolve) => {
      const cancelDeadline = afterLong(this.#clock, deadlineMs, resolve);
      this.#whenDrained = () => {
        cancelDeadline();
        resolve();
      };
      this.#checkDrained();
    });
  }

  #checkDrained(): void {
    if (!this.#running && this.#attempts === 0 && this.#commitsInFlight === 0) this.#whenDrained?.();
  }

  #refuses(reply: Reply<void>): boolean {
    if (this.#condition.kind === "open") return false;
    reply.reject(this.#unavailable(this.#condition));
    return true;
  }

  #unavailable(condition: Condition): HeddleError {
    if (condition.kind === "failed") return condition.error;
    return condition.kind === "open"
      ? new HeddleError("STORAGE_FAILED", "The log failed and was recovered; try again.")
      : closedError();
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
