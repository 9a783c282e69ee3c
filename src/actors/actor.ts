// Actor: one execution in memory. It turns messages into events of its log and hands outcomes to its flow.
//
// Owns       the flow's run, the mailbox, the draft of what the present pass changes.
// Leaves     when to run and when things are durable to the partition; the meaning of events to the kernel; what becomes of steps
//            that are under way to its attempts.
// Talks to   its partition, through the move it leaves behind after each pass.
//
// A1  One message at a time: a message is handled only when the flow is quiet and every recorded outcome is delivered.
// A2  Dropping the run and replaying it later writes the same log as keeping it.
// A3  A cancellation is one event, whoever asks for it and how often. Attempts it calls off are not followed by others.

import {
  CallAccount,
  type LateOutcome,
  type Ledger,
  type Outcome,
  type Principal,
  type Spender,
  tenantOf,
} from "../effects/index.js";
import {
  appended,
  checkEventName,
  type Entropy,
  type EventOf,
  type ExecutableTask,
  type ExecutionCommit,
  type ExecutionEvent,
  type ExecutionHeader,
  type FiledStatus,
  FlowContext,
  FlowRun,
  type FlowRunHost,
  fromWire,
  HeddleError,
  type IssuedSteps,
  isTerminal,
  type LogRecord,
  type OpenStep,
  type OutcomeEvent,
  type RegisteredFlow,
  type RunPhase,
  type Secrecy,
  type SetAside,
  Special,
  secrecyOf,
  toWire,
  type Used,
  usedIn,
  type ValueLimits,
  type Vault,
  type WantedDecision,
  type Wire,
} from "../kernel/index.js";
import { Answers } from "./answers.js";
import { type AttemptOwner, Attempts } from "./attempts.js";
import { deadlineCancel } from "./deadline.js";
import { askDecider } from "./decision.js";
import { type ClosedResume, Draft } from "./draft.js";
import { checkResumePayload, chooseGate, gateSchema } from "./gate.js";
import { notInDoubt, outcomeOfVerdict } from "./in-doubt.js";
import { type AttemptSink, InFlight } from "./in-flight.js";
import { type Message, type Reply, type ResumeRequest, rejectMessage, type Verdict } from "./messages.js";
import { DEADLINE_TIMER, GATE_TIMER, RETRY_TIMER, STEP_DEADLINE_TIMER } from "./timer-names.js";
import { type Standing, setAsideError, standingOf } from "./watchers.js";

/** What an actor needs of its surroundings; one object serves all actors of a partition. */
export interface ActorHost {
  readonly entropy: Entropy;
  readonly limits: ValueLimits;
  readonly vault: Vault;
  /** Queues the actor for the next pass. */
  enqueue(actor: Actor): void;
  /** Hands a message to an execution, in memory or not. */
  send(executionId: string, message: Message): void;
  warn(message: string): void;
  /** Whether a task may run again when it is not known whether it has run. */
  mayRepeat(task: ExecutableTask): boolean;
  /** Whether no attempt begins any more. */
  readonly isClosing: boolean;
  /**
   * Whether timers that are due may still be in the index, those of this actor among them. It is then queued for the pass
   * that takes them up.
   */
  waitsForTimers(actor: Actor, now: number): boolean;
  /** Its number. */
  readonly partition: number;
  /** Where budgets are configured. */
  readonly ledger: Ledger | undefined;
}

/** What one pass did to one execution: what to commit, and what to let go of once that is durable. */
export interface Move extends ExecutionCommit {
  readonly actor: Actor;
  readonly standing: Standing;
  /** Attempts that may now be dispatched. */
  readonly dispatches: readonly InFlight[];
  /** Callers who hear that it is durable, or that it could not be made so. */
  readonly replies: readonly Reply<void>[];
  readonly closedResumes: readonly ClosedResume[];
}

type LateMessage = Extract<Message, { readonly kind: "late" }>;

const NONE: readonly never[] = [];

/** Executions of up to this many events keep them, so that their state can be folded without a read. */
const RECENT_EVENTS_MAX = 64;

export class Actor implements FlowRunHost, AttemptOwner, AttemptSink {
  readonly id: string;
  readonly key: number;
  readonly flowId: string;
  readonly flowVersion: string;
  readonly createdAt: number;
  /** Messages to handle, the next one first. */
  #mailbox: Message[] | undefined;
  /** Of its steps, once there were any in this process. */
  #attempts: Attempts | undefined;
  /** How it stands, durable or not. */
  status: FiledStatus;
  aside: SetAside | undefined;
  /** How it stood when its last move became durable. */
  durable: Standing;
  /** The whole log while it is short. */
  recent: LogRecord[] | undefined;
  /** Whether it stands in the partition's queue. */
  queued = false;
  /** Moves taken and not yet released. */
  unreleased = 0;
  /** Whether it is counted among the executions at work. */
  holdsSlot = false;
  /** Handlers of it that wait for other executions. */
  handlersWaiting = 0;

  readonly #host: ActorHost;
  #flow: RegisteredFlow | undefined;
  #run: FlowRun | undefined;
  /** Whether the run has reached the end of the recorded log. */
  #live = false;
  #started = false;
  /** Where the stored header is filed; undefined before the first commit. */
  #filed: FiledStatus | undefined;
  #nextSequence: number;
  #principal: Wire;
  /** Why it stands aside, as far as the host has been told. */
  #reported: string | undefined;
  #deadlineAt: number | undefined;
  #answers: Answers | undefined;
  #draft: Draft | undefined;
  /** Where budgets are configured, once it has dispatched anything or was restored. */
  spender: Spender | undefined;

  constructor(
    host: ActorHost,
    header: ExecutionHeader,
    flow: RegisteredFlow | undefined,
    filed: FiledStatus | undefined,
  ) {
    this.#host = host;
    this.#flow = flow;
    this.#filed = filed;
    this.id = header.id;
    this.key = header.key;
    this.flowId = header.flowId;
    this.flowVersion = header.flowVersion;
    this.createdAt = header.createdAt;
    this.status = header.status;
    this.aside = header.aside;
    this.#nextSequence = header.sequence + 1;
    this.#reported = header.aside?.message;
    this.durable = standingOf(header.status, false, header.aside);
  }

  /** Whether its log has to be restored before it can handle a message. */
  get cold(): boolean {
    return this.#run === undefined && this.aside === undefined && !isTerminal(this.status);
  }

  /** Takes a message in, to be handled in one of the next passes. */
  post(message: Message): void {
    this.#mailbox = appended(this.#mailbox, message);
    this.#host.enqueue(this);
  }

  get hasMail(): boolean {
    return this.#mailbox !== undefined && this.#mailbox.length > 0;
  }

  /** Tells those who wait for an answer to a message that none was handled. */
  rejectMail(error: HeddleError): void {
    for (const message of this.#mailbox ?? NONE) rejectMessage(message, error);
    this.#mailbox = undefined;
  }

  /** Nothing to do and nothing on the way: it may leave memory. */
  get idle(): boolean {
    return !this.hasMail && !this.#attempts?.count && this.quiescent;
  }

  /** Everything it did is durable, no pass has it in hand, and nothing is to come that only its present run can hear. */
  get quiescent(): boolean {
    return !this.queued && this.unreleased === 0 && this.#draft === undefined && !this.#run?.deciding;
  }

  /** Begins a new execution: its first event is appended, its flow runs in this pass. */
  begin(started: EventOf<"EXECUTION_STARTED">, reply: Reply<void>): void {
    this.append(started);
    this.answerWhenDurable(reply);
    this.recent = [];
    if (started.deadlineAt !== undefined) this.arm(started.deadlineAt, DEADLINE_TIMER);
    this.#openRun([started], NONE);
    this.#live = true; // nothing of it can have been in flight before
  }

  /** Takes up the log of an execution that was not in memory. */
  restore(records: readonly LogRecord[], flow: RegisteredFlow): void {
    this.#flow = flow;
    const history: ExecutionEvent[] = [];
    for (const record of records) {
      for (const event of record.events) {
        history.push(event);
        if (event.type === "EXECUTION_RESUMED") this.#noteAnswer(event.gateId, event.requestId);
      }
    }
    this.#nextSequence = history.length;
    this.recent = history.length <= RECENT_EVENTS_MAX ? [...records] : undefined;
    this.aside = undefined;
    this.#openRun(history, records);
  }

  /** Takes up the log of an execution whose flow is not here, so that it can at least be cancelled. */
  restoreSetAside(records: readonly LogRecord[], aside: SetAside): void {
    this.#nextSequence = records.reduce((count, record) => count + record.events.length, 0);
    if (this.aside?.message !== aside.message) this.setAside(aside);
    this.aside = aside;
  }

  #openRun(history: readonly ExecutionEvent[], records: readonly LogRecord[]): void {
    if (!this.#flow)
      throw new HeddleError("INVARIANT_BROKEN", `A1: execution ${this.id} was restored without its flow`);
    const { entropy, limits, vault } = this.#host;
    const [started] = history;
    if (started?.type === "EXECUTION_STARTED") {
      this.#principal = started.principal;
      this.#deadlineAt = started.deadlineAt;
    }
    if (this.#host.ledger && records.length > 0) this.#restoreSpender(this.#host.ledger, records);
    if (this.#principal instanceof Special) void this.principal; // without its key nothing of it can run
    const executionId = this.id;
    this.#run = new FlowRun({ executionId, flow: this.#flow, history, entropy, limits, vault, host: this });
    this.#started = false;
    this.#live = false;
  }

  /** It is made once: what its attempts under way have used stands in no log. */
  #restoreSpender(ledger: Ledger, records: readonly LogRecord[]): void {
    if (this.spender) return;
    this.spender = this.#openSpender(ledger);
    for (const { timestamp, events } of records) {
      for (const event of events) {
        const used = usedIn(event);
        if (used) this.spender.restore(used, timestamp);
      }
    }
  }

  #openSpender(ledger: Ledger): Spender {
    const { partition } = this.#host;
    return ledger.open({ partition, flowId: this.flowId, tenant: tenantOf(this.principal) });
  }

  /** For an attempt that is dispatched; undefined where no budgets are configured. */
  openAccount(): CallAccount | undefined {
    const { ledger } = this.#host;
    if (!ledger) return undefined;
    this.spender ??= this.#openSpender(ledger);
    return new CallAccount(this.spender);
  }

  /** Whether this very attempt is still the one whose outcome counts. */
  awaits(attempt: InFlight): boolean {
    return this.#attempts?.awaits(attempt) ?? false;
  }

  /** Aborts every attempt under way: this process goes no further with it, and what they come to is lost. */
  abortAttempts(reason: unknown): void {
    this.#attempts?.abort(reason);
    this.#attempts = undefined;
  }

  /** Its flow ended by itself, between turns: the next pass records that. */
  strayed(): void {
    this.#host.enqueue(this);
  }

  /** Tells those who wait for what the present pass has gathered that it is void. */
  dropDraft(error: HeddleError): void {
    this.#draft?.reject(error);
    this.#draft = undefined;
  }

  /** Whether the present pass has changed something of it. */
  get changed(): boolean {
    return this.#draft !== undefined;
  }

  /** Forgets the flow's run; the next message replays it. Only when quiescent (A2). */
  dropRun(): void {
    this.#run?.abandon();
    this.#run = undefined;
    this.#attempts?.ignoreStops();
    this.recent = undefined;
  }

  // ── One round of a pass: advance and then, the flow being quiet, settle ───────────────────────────────────────

  /** Moves the flow by one outcome. Returns whether it has to become quiet before `settle`. */
  advance(now: number): boolean {
    const run = this.#run;
    if (run && !this.#started) {
      this.#started = true;
      run.start(new FlowContext(run), now);
      return true;
    }
    if (run?.replaying) return run.deliverRecorded(now);
    if (run && !this.#live) return false; // it waits for its timers
    const message = this.#mailbox?.shift();
    return message !== undefined && this.#handle(message, now);
  }

  /** Gathers what the flow did. Returns whether there is more to advance. */
  settle(now: number): boolean {
    const run = this.#run;
    if (!run) return this.hasMail;
    run.endTurn();
    if (run.phase.kind === "diverged") {
      const { error } = run.phase;
      const { code, message } = error;
      this.setAside({ code, message }, this.#filed === undefined ? error : undefined);
      return this.hasMail;
    }
    if (run.replaying) return true;
    if (run.phase.kind === "open") {
      if (!this.#live) {
        if (this.#lacksTimers(run, now)) return false;
        this.#enterLive(run, now);
      }
      this.status = run.parked ? "suspended" : "running";
    } else if (!isTerminal(this.status)) this.#end(run.phase, "it ended before this step did", now);
    return this.hasMail;
  }

  /** Files the execution as one that cannot run here. Its log stays as it is; whoever waits for it is told. */
  setAside(aside: SetAside, error = setAsideError(this.id, aside)): void {
    this.dropRun();
    this.aside = aside;
    this.status = "setAside";
    this.dropDraft(error);
    if (this.#filed === undefined) return; // it has no log yet, and gets none
    this.#draft = new Draft();
    // Trying again what is known to stand aside is no news.
    if (this.#reported === aside.message) return;
    this.#reported = aside.message;
    this.#host.warn(
      `Execution ${this.id} of flow ${this.flowId} ${this.flowVersion} is set aside (${aside.code}). ${aside.message}`,
    );
  }

  /** The same, for what its record or a turn of it threw: a damaged log, or a bug of ours. */
  setAsideBy(error: unknown): void {
    const code = error instanceof HeddleError ? error.code : "INVARIANT_BROKEN";
    this.setAside({ code, message: error instanceof Error ? error.message : String(error) });
  }

  /** Hands over what this pass changed; undefined when that is nothing. */
  takeMove(now: number): Move | undefined {
    const draft = this.#draft;
    if (!draft) return undefined;
    this.#draft = undefined;
    this.unreleased++;
    const { events } = draft;
    const created = this.#filed === undefined;
    // What comes after the end has no log to replay, so the header says where it ended.
    const isRefiled = this.#filed !== this.status || this.aside !== undefined || isTerminal(this.status);
    const refile = isRefiled ? { from: this.#filed } : undefined;
    this.#filed = this.status;
    const record = events && { sequence: this.#nextSequence - events.length, timestamp: now, events };
    if (record && this.recent)
      this.recent = this.#nextSequence > RECENT_EVENTS_MAX ? undefined : appended(this.recent, record);
    return {
      actor: this,
      standing: this.standing,
      header: this.#header(now),
      created,
      refile,
      record,
      arm: draft.armed ?? NONE,
      disarm: draft.disarmed ?? NONE,
      dispatches: draft.dispatches ?? NONE,
      replies: draft.replies ?? NONE,
      closedResumes: draft.closedResumes ?? NONE,
    };
  }

  #header(now: number): ExecutionHeader {
    return {
      key: this.key,
      id: this.id,
      flowId: this.flowId,
      flowVersion: this.flowVersion,
      status: this.status,
      sequence: this.#nextSequence - 1,
      createdAt: this.createdAt,
      updatedAt: now,
      aside: this.aside,
    };
  }

  /** How it stands, as far as it has got; durable once the move that brought it here is. */
  get standing(): Standing {
    return standingOf(this.status, this.#atGate(), this.aside);
  }

  #atGate(): boolean {
    if (this.status !== "suspended" || !this.#run) return false;
    if (this.#run.steps.inDoubtCount > 0) return true;
    for (const gate of this.#run.gates.values()) {
      if (gate.kind === "event") return true;
    }
    return false;
  }

  // ── Messages ──────────────────────────────────────────────────────────────────────────────────────────────────

  /** Appends what the message means. Returns whether the flow was moved by it. */
  #handle(message: Message, now: number): boolean {
    switch (message.kind) {
      case "wake":
        return false;
      case "settled":
        return this.#settled(message.attempt, message.outcome, now);
      case "late":
        this.#onLate(message);
        return false;
      case "effectEvent":
        if (this.awaits(message.attempt)) {
          const { attempt, name, payload } = message;
          this.append({ type: "EFFECT_EVENT", stepId: attempt.stepId, name, payload });
        }
        return false;
      case "decided":
        if (!this.#run?.awaitsDecision(message.event.decisionId, message.decision)) return false;
        return this.deliver(message.event, now);
      case "stopped":
        return this.#attempts?.stopped(message.stepId, now) ?? false;
      case "timerDue":
        return this.#onTimer(message.wakeAt, message.timerId, now);
      case "resume":
        return this.#onResume(message.request, message.reply, now);
      case "verdict":
        return this.#onVerdict(message.stepId, message.verdict, message.reply, now);
      case "cancel":
        return this.#onCancel(message.reason, message.force, message.reply, now);
    }
  }

  #settled(attempt: InFlight, outcome: Outcome, now: number): boolean {
    if (this.#attempts) return this.#attempts.settled(attempt, outcome, now);
    if (attempt.isCalledOff) attempt.noteLate(outcome);
    return false;
  }

  endOverBudget(error: Wire, now: number): void {
    this.#end({ kind: "failed", error }, "a budget ended it", now);
  }

  #onTimer(wakeAt: number, timerId: string, now: number): boolean {
    // It stays in the index, which alone tells that the attempt it is for was not dispatched.
    if (this.aside && timerId.startsWith(RETRY_TIMER)) return false;
    this.disarm(wakeAt, timerId);
    const run = this.#run;
    if (!run) return false;
    if (timerId === DEADLINE_TIMER) {
      if (run.cancellation || this.#deadlineAt !== wakeAt) return false; // A3
      return this.#requestCancel(run, deadlineCancel(this.createdAt, wakeAt), now);
    }
    if (timerId.startsWith(STEP_DEADLINE_TIMER))
      return this.attempts.deadlinePassed(timerId.slice(STEP_DEADLINE_TIMER.length), wakeAt, now);
    if (timerId.startsWith(RETRY_TIMER)) {
      this.attempts.retryDue(timerId.slice(RETRY_TIMER.length), wakeAt);
      return false;
    }
    const gateId = timerId.slice(GATE_TIMER.length);
    const gate = run.gates.get(gateId);
    if (gate?.wakeAt !== wakeAt) return false;
    const sleeping = gate.kind === "sleep";
    return this.deliver(
      sleeping ? { type: "TIMER_FIRED", gateId } : { type: "GATE_TIMED_OUT", gateId, on: gate.on },
      now,
      { type: "EXECUTION_RESUMED", gateId, reason: sleeping ? "timer" : "timeout", requestId: undefined },
    );
  }

  #onResume(request: ResumeRequest, reply: Reply<void>, now: number): boolean {
    const run = this.#run;
    if (!this.#flow || this.aside) {
      reply.reject(
        setAsideError(
          this.id,
          this.aside ?? { code: "FLOW_UNKNOWN", message: "Its flow is not registered." },
        ),
      );
      return false;
    }
    try {
      const choice =
        run && !this.#answers?.isRepeat(request) ? chooseGate(this.id, run.gates, request) : undefined;
      if (!choice) {
        const draft = this.#change();
        draft.closedResumes = appended(draft.closedResumes, { request, reply });
        return false;
      }
      const { gateId, gate } = choice;
      const { definition } = this.#flow;
      const parsed = checkResumePayload(definition, this.id, request);
      const payload = this.secrecy.wireOf(parsed, gateSchema(definition, gate.on), this.#host.limits);
      if (gate.wakeAt !== undefined) this.disarm(gate.wakeAt, GATE_TIMER + gateId);
      this.answerWhenDurable(reply);
      this.#noteAnswer(gateId, request.requestId);
      return this.deliver({ type: "GATE_EVENT", name: gate.on, gateId, payload }, now, {
        type: "EXECUTION_RESUMED",
        gateId,
        reason: "event",
        requestId: request.requestId,
      });
    } catch (error) {
      this.#refuse(reply, error);
      return false;
    }
  }

  #noteAnswer(gateId: string, requestId: string | undefined): void {
    if (requestId === undefined) return;
    this.#answers ??= new Answers();
    this.#answers.note(gateId, requestId);
  }

  #onVerdict(stepId: string, verdict: Verdict, reply: Reply<void>, now: number): boolean {
    const step = this.aside ? undefined : this.#run?.steps.open(stepId);
    if (!step?.inDoubt) {
      this.#refuse(reply, this.aside ? setAsideError(this.id, this.aside) : notInDoubt(this.id, stepId));
      return false;
    }
    let outcome: EventOf<"STEP_COMPLETED" | "STEP_FAILED"> | undefined;
    try {
      outcome = outcomeOfVerdict(step, verdict, this.secrecy, this.#host.limits);
    } catch (error) {
      reply.reject(error);
      return false;
    }
    this.answerWhenDurable(reply);
    if (outcome) return this.attempts.settle(step, outcome, now);
    this.attempts.repeat(step, "verdict", now);
    return false;
  }

  #onCancel(reason: string, force: boolean, reply: Reply<void>, now: number): boolean {
    if (isTerminal(this.status) && this.status !== "cancelled") {
      this.#refuse(reply, endedError(this.id, this.status));
      return false;
    }
    // Without its flow it can only be ended; with an unreadable log not even that: where the log ends is not known.
    if (this.aside && (!force || this.aside.code === "RECORD_UNREADABLE")) {
      reply.reject(setAsideError(this.id, this.aside));
      return false;
    }
    this.answerWhenDurable(reply);
    if (this.status === "cancelled") return false;
    if (force) {
      this.#endByForce(reason, now);
      return false;
    }
    const run = this.#run;
    if (!run || run.cancellation) return false; // A3
    return this.#requestCancel(run, { type: "CANCEL_REQUESTED", reason, code: undefined }, now);
  }

  /** Tells the flow. What it waits for outside of a shield is over; what it does about that is up to it. */
  #requestCancel(run: FlowRun, event: EventOf<"CANCEL_REQUESTED">, now: number): boolean {
    const { id } = this;
    const why = new HeddleError("CANCELLED", `Execution ${id} was cancelled: ${event.reason}`, {
      details: { executionId: id },
    });
    for (const step of run.steps.allOpen()) if (!step.shielded) this.attempts.callOff(step, why, now);
    for (const [gateId, { shielded, wakeAt }] of run.gates) {
      if (!shielded && wakeAt !== undefined) this.disarm(wakeAt, GATE_TIMER + gateId);
    }
    return this.deliver(event, now);
  }

  #endByForce(reason: string, now: number): void {
    this.#attempts?.closeAccounts(now);
    this.append({ type: "EXECUTION_CANCELLED", reason, error: undefined });
    this.status = "cancelled";
    this.aside = undefined;
    this.#release(`it was cancelled: ${reason}`, now);
  }

  #onLate({ stepId, issue, attempt, outcome }: LateMessage): void {
    if (this.aside) return; // its log stays as it is
    const { kind } = outcome;
    const error = kind === "failed" ? outcome.error : undefined;
    this.append({
      type: "OUTCOME_LATE",
      stepId,
      attempt,
      kind,
      error,
      issue: issue === 1 ? undefined : issue,
    });
  }

  // ── What a turn asks for ──────────────────────────────────────────────────────────────────────────────────────

  /** Asks a decider. It has no effect on the world, so nothing need be durable first; its answer is a message. */
  consult(decisionId: string, decision: WantedDecision): void {
    const { decider, options } = decision;
    const run = this.#run;
    const { limits } = this.#host;
    askDecider(
      { executionId: this.id, decisionId, decider, options, secrecy: this.secrecy, limits },
      (event) => {
        if (this.#run === run) this.post({ kind: "decided", decision, event }); // else it was dropped, and a replay asks again
      },
    );
  }

  /** The log is used up: what was in flight when it was written has to be seen to again. */
  #enterLive(run: FlowRun, now: number): void {
    this.#live = true;
    if (!this.#host.isClosing && run.steps.openCount > 0) this.attempts.seeToOpenSteps(now); // what is closing leaves them to the next opening
    if (this.#filed !== "setAside") return;
    // A timer that came due while the execution was set aside is gone from the index, unless it is that of a retry.
    for (const [gateId, { wakeAt }] of run.gates) {
      if (wakeAt !== undefined) this.arm(wakeAt, GATE_TIMER + gateId);
    }
    for (const { stepId, deadlineAt } of run.steps.allOpen()) {
      if (deadlineAt !== undefined) this.armDeadline(stepId, deadlineAt);
    }
    if (this.#deadlineAt !== undefined) this.arm(this.#deadlineAt, DEADLINE_TIMER);
    this.#change();
  }

  /** Records the end. Once its cancellation was asked for that is how it ends, whatever the flow came to. */
  #end(phase: RunPhase, why: string, now: number): void {
    this.#attempts?.closeAccounts(now);
    const cancellation = this.#run?.cancellation;
    if (cancellation) {
      const { reason, code } = cancellation;
      const error = phase.kind === "failed" ? phase.error : undefined;
      this.append({ type: "EXECUTION_CANCELLED", reason, code, error });
      this.status = "cancelled";
    } else if (phase.kind === "completed") {
      this.append({ type: "EXECUTION_COMPLETED", output: phase.output });
      this.status = "completed";
    } else if (phase.kind === "failed") {
      this.append({ type: "EXECUTION_FAILED", error: phase.error });
      this.status = "failed";
    }
    this.#release(why, now);
  }

  /** Lets go of everything an ended execution still holds: its timers and its steps in flight. */
  #release(why: string, now: number): void {
    const run = this.#run;
    for (const [gateId, { wakeAt }] of run?.gates ?? NONE) {
      if (wakeAt !== undefined) this.disarm(wakeAt, GATE_TIMER + gateId);
    }
    if (run?.steps.openCount || this.#attempts?.count) {
      const error = new HeddleError("EXECUTION_ENDED", `Execution ${this.id}: ${why}.`, {
        details: { executionId: this.id },
      });
      this.attempts.callOffAll(error, now);
      this.#attempts = undefined;
    }
    if (this.#deadlineAt !== undefined) this.disarm(this.#deadlineAt, DEADLINE_TIMER);
    run?.abandon();
    this.#run = undefined;
  }

  // ── For its attempts ──────────────────────────────────────────────────────────────────────────────────────────

  get attempts(): Attempts {
    this.#attempts ??= new Attempts(this);
    return this.#attempts;
  }

  get steps(): IssuedSteps | undefined {
    return this.#run?.steps;
  }

  requestEffect(step: OpenStep): void {
    this.attempts.request(step);
  }

  attemptOf(step: OpenStep): InFlight {
    return new InFlight(this.id, this.flowId, step, this);
  }

  dispatch(attempt: InFlight): void {
    const draft = this.#change();
    draft.dispatches = appended(draft.dispatches, attempt);
  }

  noteStop(stepId: string): void {
    this.post({ kind: "stopped", stepId });
  }

  mayRepeat(task: ExecutableTask): boolean {
    return this.#host.mayRepeat(task);
  }

  useOfLost(now: number): Used | undefined {
    return this.spender?.keeper.beginLost(this.spender, now) ? { startedAt: now } : undefined;
  }

  /** What its run keeps to itself. */
  get secrecy(): Secrecy {
    return this.#run?.secrecy ?? secrecyOf(this.#host.vault, this.id);
  }

  /** A fresh copy each time: effects are not to change what others see. */
  get principal(): Principal | undefined {
    return fromWire(this.#principal, this.#host.vault.opener(this.id)) as Principal | undefined;
  }

  /** Records a domain event of an attempt under way; the attempt may be over by then, and the event void. */
  emitFrom(attempt: InFlight, name: string, payload: unknown): void {
    checkEventName("event type", name);
    this.post({ kind: "effectEvent", attempt, name, payload: toWire(payload, this.#host.limits) });
  }

  /** What an attempt came to when it did not count any more; by then this may not be in memory. */
  settledLate({ stepId, issue, attempt }: InFlight, outcome: LateOutcome): void {
    this.#host.send(this.id, { kind: "late", stepId, issue, attempt, outcome });
  }

  deliver(outcome: OutcomeEvent, now: number, marker?: ExecutionEvent): true {
    this.append(outcome);
    if (marker) this.append(marker);
    this.#run?.deliver(outcome, now);
    return true;
  }

  append(event: ExecutionEvent): void {
    this.#change().append(event);
    this.#nextSequence++;
  }

  answerWhenDurable(reply: Reply<void>): void {
    this.#change().answer(reply);
  }

  /** A refusal is an answer too: it rests on what the execution has come to, so it waits until that is durable. */
  #refuse(reply: Reply<void>, error: unknown): void {
    if (this.unreleased === 0 && !this.#draft) reply.reject(error);
    else
      this.answerWhenDurable({
        resolve: () => reply.reject(error),
        reject: (failure) => reply.reject(failure),
      });
  }

  #change(): Draft {
    this.#draft ??= new Draft();
    return this.#draft;
  }

  /**
   * Whether a timer of it is due that is not here: what it tells has to be known before anything is said of attempts. The log
   * cannot tell an attempt that was not dispatched from one that was cut off; the index can.
   */
  #lacksTimers(run: FlowRun, now: number): boolean {
    const isAbsent = (wakeAt: number | undefined, timerId: string): boolean =>
      wakeAt !== undefined && wakeAt <= now && !this.isTimerHere(wakeAt, timerId);
    const open = run.steps.allOpen();
    const isAnyAbsent = open.some(
      ({ stepId, retryAt, deadlineAt }) =>
        !this.#attempts?.has(stepId) &&
        (isAbsent(retryAt, RETRY_TIMER + stepId) || isAbsent(deadlineAt, STEP_DEADLINE_TIMER + stepId)),
    );
    if (!isAnyAbsent && (open.length === 0 || !isAbsent(this.#deadlineAt, DEADLINE_TIMER))) return false;
    return this.#host.waitsForTimers(this, now);
  }

  isTimerHere(wakeAt: number, timerId: string): boolean {
    return (this.#mailbox ?? NONE).some(
      (message) => message.kind === "timerDue" && message.wakeAt === wakeAt && message.timerId === timerId,
    );
  }

  isOutOfTime({ stepId, deadlineAt, shielded }: OpenStep, now: number): boolean {
    const isPast = (wakeAt: number | undefined, timerId: string): boolean =>
      wakeAt !== undefined &&
      wakeAt <= now &&
      (this.#filed === "setAside" || this.isTimerHere(wakeAt, timerId)); // set aside: it is armed again
    if (isPast(deadlineAt, STEP_DEADLINE_TIMER + stepId)) return true;
    return !shielded && isPast(this.#deadlineAt, DEADLINE_TIMER);
  }

  armTimer(gateId: string, wakeAt: number): void {
    this.arm(wakeAt, GATE_TIMER + gateId);
  }

  armDeadline(stepId: string, deadlineAt: number): void {
    this.arm(deadlineAt, STEP_DEADLINE_TIMER + stepId);
  }

  arm(wakeAt: number, timerId: string): void {
    this.#change().arm({ wakeAt, key: this.key, gateId: timerId });
  }

  disarm(wakeAt: number, timerId: string): void {
    this.#change().disarm({ wakeAt, key: this.key, gateId: timerId });
  }
}

export function endedError(executionId: string, status: FiledStatus): HeddleError {
  return new HeddleError(
    "EXECUTION_ENDED",
    `Execution ${executionId} has ended (${status}); nothing more can happen to it.`,
    {
      details: { executionId, status },
    },
  );
}
