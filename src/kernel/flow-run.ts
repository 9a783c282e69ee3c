// FlowRun: one pass of a flow's code over its log, from the top: first along what is recorded, then beyond it.
//
// Leaves     what is open to its steps, gates and decisions; where it stands in the log to its recording; when to run, what time it is and where effects go to the actor.
// Talks to   the flow through FlowContext; the actor, which is told of each request as it is made.
//
// R1  The n-th request of the code is compared with the n-th recorded request; a mismatch ends this run, appends nothing.
// R2  Outcomes are handed to the flow one at a time, in log order, the flow being quiet before each.
// R3  Live and replayed runs hand over equal values: always decoded from the wire, never the caller's own object.
// R4  A flow that waits is left with a pending promise; nothing is ever thrown through it to stop it.
// R5  No promise of ours is ever an unhandled rejection.
// R6  What the flow may see and readers may not is opened for it, and sealed or replaced in whatever it gives away. Where that
//     takes a key that is not here, the run ends as one that cannot go on with what is at hand; nothing is appended.
// R7  A cancellation is one outcome: it rejects everything that is open and not shielded, and from then on every such call.
//     What is shielded, before or after, goes on as if nothing had happened.

import { toWire, type ValueLimits, type Wire } from "./codec/index.js";
import type { DecideOptions, ExecutionContext, SuspendOptions } from "./context.js";
import { Deferred } from "./deferred.js";
import { type Divergence, divergenceError } from "./divergence.js";
import { EffectModeViolationError, HeddleError, hasCode } from "./errors.js";
import type { EventOf, ExecutionEvent, PatchOperation } from "./events.js";
import type { RegisteredFlow } from "./flow.js";
import { cancelled, contextMisused, foreignAwait, idReused } from "./flow-errors.js";
import { checkId } from "./ids.js";
import { IssuedSteps, type OpenStep } from "./issued-steps.js";
import { type GateRequest, OpenGates } from "./open-gates.js";
import { isOutcome, type OutcomeEvent, Recording } from "./recording.js";
import { checkEventName, checkText, dueTime, matchesRequest } from "./request.js";
import { parseWith } from "./schema.js";
import { hasMarks, type Secrecy, secrecyOf, type Vault } from "./secrets/index.js";
import type { ExecutableTask } from "./task.js";
import { type Decider, type WantedDecision, WantedDecisions } from "./wanted-decisions.js";

/** Randomness for `ctx.random()` and `ctx.uuid()`; what it gives is recorded. */
export interface Entropy {
  random(): number;
  uuid(): string;
}

/** How the run stands once the flow is quiet. */
export type RunPhase =
  | { readonly kind: "open" }
  | { readonly kind: "completed"; readonly output: Wire }
  | { readonly kind: "failed"; readonly error: Wire }
  /** It let its cancellation through. */
  | { readonly kind: "cancelled" }
  /** The log and what is at hand do not fit together: other code, or not the key that it takes. */
  | { readonly kind: "diverged"; readonly error: HeddleError };

const OPEN: RunPhase = { kind: "open" };
const CANCELLED: RunPhase = { kind: "cancelled" };
const NO_GATES: OpenGates["all"] = new Map();
const ignore = (): void => {};

export interface FlowRunOptions {
  readonly executionId: string;
  readonly flow: RegisteredFlow;
  /** The whole log so far, EXECUTION_STARTED first. */
  readonly history: readonly ExecutionEvent[];
  readonly entropy: Entropy;
  readonly limits: ValueLimits;
  readonly vault: Vault;
  readonly host: FlowRunHost;
}

/** What a run needs of whoever runs it. */
export interface FlowRunHost {
  /** A live request, in the order of the code. */
  append(event: ExecutionEvent): void;
  /** A step was requested; it is dispatched once the request is durable. */
  requestEffect(step: OpenStep): void;
  armTimer(gateId: string, wakeAt: number): void;
  armDeadline(stepId: string, deadlineAt: number): void;
  /** A decision is wanted that no record answers. */
  consult(decisionId: string, decision: WantedDecision): void;
  /** The flow ended outside a turn; the run's phase tells how. */
  strayed(): void;
}

export class FlowRun {
  readonly executionId: string;
  readonly flow: RegisteredFlow;
  /** What the flow has seen that readers may not. */
  readonly secrecy: Secrecy;
  phase: RunPhase = OPEN;
  readonly steps = new IssuedSteps();

  readonly #entropy: Entropy;
  readonly #limits: ValueLimits;
  readonly #vault: Vault;
  readonly #host: FlowRunHost;
  #gates: OpenGates | undefined;
  #decisions: WantedDecisions | undefined;
  /** Dropped once the flow has it. */
  #input: Wire;
  readonly #recording: Recording;
  #cancellation: { readonly event: EventOf<"CANCEL_REQUESTED">; readonly error: HeddleError } | undefined;
  #turn = false;
  #ended = false;
  #now = 0;

  constructor(options: FlowRunOptions) {
    this.executionId = options.executionId;
    this.flow = options.flow;
    const [started] = options.history;
    if (started?.type !== "EXECUTION_STARTED") {
      throw new HeddleError(
        "RECORD_UNREADABLE",
        `The log of ${this.executionId} does not begin with EXECUTION_STARTED.`,
      );
    }
    this.#input = started.input;
    this.#recording = new Recording(options.history);
    this.#entropy = options.entropy;
    this.#limits = options.limits;
    this.#vault = options.vault;
    this.secrecy = secrecyOf(options.vault, options.executionId);
    this.#host = options.host;
  }

  get replaying(): boolean {
    return !this.#recording.isUsedUp;
  }

  /** The cancellation the flow was told of. Whatever it does then, it ends cancelled. */
  get cancellation(): EventOf<"CANCEL_REQUESTED"> | undefined {
    return this.#cancellation?.event;
  }

  /** The gates that are open, by gate id. */
  get gates(): OpenGates["all"] {
    return this.#gates?.all ?? NO_GATES;
  }

  /** Whether the flow waits for nothing but gates and verdicts: no step in flight, no decision to come. */
  get parked(): boolean {
    const { openCount, inDoubtCount } = this.steps;
    if (openCount !== inDoubtCount || this.deciding) return false;
    return this.gates.size > 0 || inDoubtCount > 0;
  }

  /** Whether a decision is to come. Nothing durable stands for it, so only this very run can hear of it. */
  get deciding(): boolean {
    return this.#decisions !== undefined && this.#decisions.count > 0;
  }

  // ── The actor's side ──────────────────────────────────────────────────────────────────────────────────────────

  // Until `endTurn` the flow may use its context. The caller lets the flow run to quiet in between.
  #beginTurn(now: number): void {
    this.#turn = true;
    this.#now = now;
  }

  /** Calls the flow's code for the first time, with the context through which it talks to this run. */
  start(context: ExecutionContext, now: number): void {
    const input = this.secrecy.reveal(this.#input);
    this.#input = undefined;
    this.#beginTurn(now);
    try {
      const running = this.flow.runner(context, input);
      Promise.resolve(running).then(this.#returned, this.#threw);
    } catch (error) {
      this.#threw(error); // a runner that is not async
    }
  }

  /**
   * While replaying: hands the next recorded outcome to the flow (R2). Called with the flow quiet; returns false when
   * there was none to hand over, because the log is used up or the run has diverged.
   */
  deliverRecorded(now: number): boolean {
    const recorded = this.#nextRecorded();
    if (recorded === undefined || this.phase.kind !== "open") return false;
    if (!isOutcome(recorded) || !this.#awaits(recorded)) {
      this.#diverge({ kind: "unreached", recorded, how: "waits" });
      return false;
    }
    this.#recording.accept();
    this.#beginTurn(now);
    this.#settle(recorded);
    return true;
  }

  /** Hands a live outcome, already appended by the actor, to the flow. */
  deliver(outcome: OutcomeEvent, now: number): void {
    this.#beginTurn(now);
    this.#settle(outcome);
  }

  /** Whether the flow is waiting for this very decision. */
  awaitsDecision(decisionId: string, decision: WantedDecision): boolean {
    return this.#decisions?.is(decisionId, decision) ?? false;
  }

  /**
   * Closes a turn, the flow being quiet. A flow that waits for nothing the log knows would wait for ever: it fails with
   * FOREIGN_AWAIT instead. Once the log is used up, deciders that no record answers are to be consulted.
   */
  endTurn(): void {
    this.#turn = false;
    if (this.phase.kind !== "open" || this.replaying) return;
    if (this.steps.openCount === 0 && this.gates.size === 0 && !this.deciding) {
      this.#end({ kind: "failed", error: toWire(foreignAwait(this.executionId)) });
      return;
    }
    this.#decisions?.consult((decisionId, decision) => this.#host.consult(decisionId, decision));
  }

  /** Ends the run from outside (ended by force, passivated). The flow is left waiting (R4). */
  abandon(): void {
    this.#ended = true;
    this.#turn = false;
  }

  // ── The flow's side, through FlowContext ──────────────────────────────────────────────────────────────────────

  execute(task: ExecutableTask, input: unknown, shielded: boolean): Promise<unknown> {
    const refusal = this.#refusal(shielded);
    if (refusal) return refusal;
    try {
      checkId("step id", task.id);
      checkText("toolId of step", task.id, task.toolId);
      checkText("kind of step", task.id, task.kind);
      if (task.mode === "ambient") throw new EffectModeViolationError(task.toolId ?? task.id, "ambient");
      this.#checkOutcomes(task);
      const parsed = parseWith(task.inputSchema, input, "INPUT_INVALID", "input of step", task.id);
      const wire = this.secrecy.wireOf(parsed, task.inputSchema, this.#limits);
      const failure = this.steps.standingFailure(this.executionId, task.id, wire);
      if (failure) return rejected(failure);
      const deadlineAt = this.#deadlineOf(task);
      const isNew = this.#request({
        type: "STEP_STARTED",
        stepId: task.id,
        input: wire,
        kind: task.kind ?? "step",
        toolId: task.toolId,
        shielded: shielded || undefined,
        deadlineAt,
      });
      const outcome = new Deferred<unknown>();
      const step = this.steps.issue({ task, input: wire, shielded, deadlineAt }, outcome);
      if (isNew) {
        this.#host.requestEffect(step);
        if (deadlineAt !== undefined) this.#host.armDeadline(task.id, deadlineAt);
      }
      return outcome.promise;
    } catch (error) {
      this.#endWithoutKey(error);
      // What a schema says of a value that it refuses may have the value in it.
      if (hasMarks(task.inputSchema)) this.secrecy.remember(input);
      return rejected(error);
    }
  }

  /** R6: an outcome that could not be sealed would be lost. */
  #checkOutcomes({ outputSchema, errors }: ExecutableTask): void {
    this.secrecy.check(outputSchema);
    for (const channel in errors) this.secrecy.check(errors[channel]);
  }

  decide(id: string, decider: Decider, shielded: boolean, options: DecideOptions = {}): Promise<unknown> {
    const refusal = this.#refusal(shielded);
    if (refusal) return refusal;
    try {
      checkId("decision id", id);
      checkText("source of decision", id, options.source);
      if (this.#decisions?.has(id)) throw idReused(this.executionId, id);
      return (this.#decisions ??= new WantedDecisions()).ask(id, decider, options, shielded);
    } catch (error) {
      return rejected(error);
    }
  }

  suspend(options: SuspendOptions, shielded: boolean): Promise<unknown> {
    const refusal = this.#refusal(shielded);
    if (refusal) return refusal;
    try {
      checkEventName("suspend's `on`", options.on);
      if (options.correlationKey !== undefined) checkId("correlationKey", options.correlationKey);
      const wakeAt =
        options.timeout === undefined ? undefined : dueTime("suspend's timeout", options.timeout, this.#now);
      return this.#openGate({
        kind: "event",
        on: options.on,
        wakeAt,
        correlationKey: options.correlationKey,
        shielded,
      });
    } catch (error) {
      return rejected(error);
    }
  }

  sleep(durationMs: number, shielded: boolean): Promise<unknown> {
    const refusal = this.#refusal(shielded);
    if (refusal) return refusal;
    try {
      const wakeAt = dueTime("sleep's duration", durationMs, this.#now);
      return this.#openGate({ kind: "sleep", on: "sleep", wakeAt, correlationKey: undefined, shielded });
    } catch (error) {
      return rejected(error);
    }
  }

  emit(name: string, payload: unknown): void {
    if (this.#inert()) return;
    checkEventName("event type", name);
    this.#request({ type: "DOMAIN_EVENT", name, payload: this.#publicWire(payload) });
  }

  stream(name: string, delta: string, done: boolean): void {
    if (this.#inert()) return;
    checkEventName("event type", name);
    if (typeof delta !== "string") {
      throw new HeddleError(
        "INPUT_INVALID",
        `ctx.stream(${name}): delta must be a string, not ${typeof delta}.`,
      );
    }
    // A wire: pieces of streamed text may begin or end in half a character.
    this.#request({ type: "STREAM_DELTA", name, delta: this.#publicWire(delta), done: Boolean(done) });
  }

  patch(operation: PatchOperation, key: string, value: unknown, surface: string | undefined): void {
    if (this.#inert()) return;
    checkId("surface key", key);
    this.#request({ type: "SURFACE_PATCH", operation, key, value: this.#publicWire(value), surface });
  }

  now(): number {
    return this.#sample("now", () => this.#now);
  }

  random(): number {
    return this.#sample("random", () => this.#entropy.random());
  }

  uuid(): string {
    return this.#sample("uuid", () => this.#entropy.uuid());
  }

  // ── Matching and settling ─────────────────────────────────────────────────────────────────────────────────────

  /** R1: the one way a request enters the log. Returns whether it did; if not, it stands there already. */
  #request(attempted: ExecutionEvent): boolean {
    const recorded = this.#nextRecorded();
    if (recorded === undefined) {
      this.#host.append(attempted);
      return true;
    }
    if (matchesRequest(recorded, attempted) || this.#matchesOpened(recorded, attempted))
      this.#recording.accept();
    else this.#diverge({ kind: "other", recorded, attempted });
    return false;
  }

  /** Whether they differ in nothing but what of them may be read: marks and keys may be others than they were. */
  #matchesOpened(recorded: ExecutionEvent, attempted: ExecutionEvent): boolean {
    return this.#vault.hasKey && matchesRequest(this.#opened(recorded), this.#opened(attempted));
  }

  #opened(request: ExecutionEvent): ExecutionEvent {
    switch (request.type) {
      case "STEP_STARTED":
        return { ...request, input: this.#vault.opened(this.executionId, request.input) };
      case "DOMAIN_EVENT":
        return { ...request, payload: this.secrecy.scrub(request.payload) };
      case "STREAM_DELTA":
        return { ...request, delta: this.secrecy.scrub(request.delta) };
      case "SURFACE_PATCH":
        return { ...request, value: this.secrecy.scrub(request.value) };
      default:
        return request;
    }
  }

  /** The wire of a value that readers see. */
  #publicWire(value: unknown): Wire {
    return this.secrecy.scrub(toWire(value, this.#limits));
  }

  /** A value drawn from outside: taken once, then the record's to say. Synchronous, so it is no outcome of a turn. */
  #sample<T extends number | string>(name: string, take: () => T): T {
    if (this.#inert()) return take();
    const recorded = this.#nextRecorded();
    if (recorded?.type === "VALUE_RECORDED" && recorded.name === name) {
      this.#recording.accept();
      return recorded.value as T;
    }
    const value = take();
    this.#request({ type: "VALUE_RECORDED", name, value });
    return value;
  }

  /** The recorded due time stands, also when the step has got another deadline since. */
  #deadlineOf({ id, deadlineMs }: ExecutableTask): number | undefined {
    const recorded = this.replaying ? this.#nextRecorded() : undefined;
    if (recorded?.type === "STEP_STARTED") return recorded.deadlineAt;
    return deadlineMs === undefined ? undefined : dueTime(`deadlineMs of step ${id}`, deadlineMs, this.#now);
  }

  #openGate(gate: GateRequest): Promise<unknown> {
    const { kind, on, wakeAt, correlationKey, shielded } = gate;
    this.#gates ??= new OpenGates();
    const gateId = this.#gates.nextId(on);
    const recorded = this.#nextRecorded();
    const isNew = this.#request({
      type: "EXECUTION_SUSPENDED",
      gateId,
      kind,
      on,
      wakeAt,
      correlationKey,
      shielded: shielded || undefined,
    });
    // The recorded due time stands, whatever the code computes on replay (C-REP-04, C-SUS-04).
    const due = recorded?.type === "EXECUTION_SUSPENDED" ? recorded.wakeAt : wakeAt;
    const outcome = this.#gates.open(gateId, { ...gate, wakeAt: due });
    if (isNew && due !== undefined) this.#host.armTimer(gateId, due);
    return outcome;
  }

  #awaits(outcome: OutcomeEvent): boolean {
    switch (outcome.type) {
      case "STEP_COMPLETED":
      case "STEP_FAILED":
        return this.steps.open(outcome.stepId) !== undefined;
      case "DECISION_RECORDED":
      case "DECISION_FAILED":
        return this.#decisions?.has(outcome.decisionId) ?? false;
      case "GATE_EVENT":
      case "GATE_TIMED_OUT":
      case "TIMER_FIRED":
        return this.gates.has(outcome.gateId);
      case "CANCEL_REQUESTED":
        return this.#cancellation === undefined;
    }
  }

  #settle(outcome: OutcomeEvent): void {
    switch (outcome.type) {
      case "STEP_COMPLETED":
        return this.steps.complete(outcome, this.secrecy);
      case "STEP_FAILED":
        return this.steps.fail(outcome, this.secrecy);
      case "DECISION_RECORDED":
      case "DECISION_FAILED":
        return this.#decisions!.settle(outcome, this.secrecy);
      case "GATE_EVENT":
      case "GATE_TIMED_OUT":
      case "TIMER_FIRED":
        return this.#gates!.settle(outcome, this.secrecy);
      case "CANCEL_REQUESTED":
        return this.#cancel(outcome);
    }
  }

  /** R7 */
  #cancel(event: EventOf<"CANCEL_REQUESTED">): void {
    const error = cancelled(this.executionId, event);
    this.#cancellation = { event, error };
    this.steps.cancel(error);
    this.#gates?.cancel(error);
    this.#decisions?.cancel(error);
  }

  // ── Endings ───────────────────────────────────────────────────────────────────────────────────────────────────

  #returned = (value: unknown): void => {
    if (this.#ended) return;
    if (!this.#turn) return this.#strayed(foreignAwait(this.executionId));
    if (this.#unreached("returned")) return;
    try {
      const { id, outputSchema } = this.flow.definition;
      const parsed = parseWith(outputSchema, value, "OUTPUT_INVALID", "result of flow", id);
      const output = this.secrecy.wireOf(parsed, outputSchema, this.#limits);
      this.#end({ kind: "completed", output });
    } catch (error) {
      this.#endWithoutKey(error);
      if (hasMarks(this.flow.definition.outputSchema)) this.secrecy.remember(value);
      if (!this.#ended) this.#end({ kind: "failed", error: this.secrecy.failure(error) });
    }
  };

  #threw = (error: unknown): void => {
    if (this.#ended) return;
    if (!this.#turn) return this.#strayed(error);
    if (this.#unreached("threw")) return;
    this.#end(this.#failure(error));
  };

  /**
   * The flow ended outside a turn, moved by something its log does not know. A replay would not find that again, so the
   * execution fails now, whatever it still waits for.
   */
  #strayed(error: unknown): void {
    this.#end(this.#failure(error));
    this.#host.strayed();
  }

  /** A flow that lets its cancellation through has not failed at anything. */
  #failure(error: unknown): RunPhase {
    if (this.#cancellation !== undefined && error === this.#cancellation.error) return CANCELLED;
    return { kind: "failed", error: this.secrecy.failure(error) };
  }

  /** Whether the log goes on where the flow has ended. */
  #unreached(how: "returned" | "threw"): boolean {
    const recorded = this.#nextRecorded();
    if (recorded) this.#diverge({ kind: "unreached", recorded, how });
    return recorded !== undefined;
  }

  #diverge(divergence: Divergence): void {
    this.#end({
      kind: "diverged",
      error: divergenceError(this.executionId, this.#recording.position, divergence),
    });
  }

  /** R6 */
  #endWithoutKey(error: unknown): void {
    const isKeyMissing = hasCode(error, "SEALING_KEY_MISSING") || hasCode(error, "SEALED_UNREADABLE");
    if (isKeyMissing && error instanceof HeddleError) this.#end({ kind: "diverged", error });
  }

  #end(phase: RunPhase): void {
    this.phase = phase;
    this.#ended = true;
  }

  // ── Guards ────────────────────────────────────────────────────────────────────────────────────────────────────

  /**
   * For calls that give a promise: a flow that goes on after its run has ended waits for ever (R4). A call from outside
   * the turn is refused, also once the run has ended: a step's body that waited for ever would never settle.
   */
  #refusal(shielded: boolean): Promise<never> | undefined {
    if (!this.#turn) return rejected(contextMisused(this.executionId));
    if (this.#ended) return new Promise(ignore);
    return this.#cancellation && !shielded ? rejected(this.#cancellation.error) : undefined; // R7
  }

  /** For calls that give none. */
  #inert(): boolean {
    if (!this.#turn) throw contextMisused(this.executionId);
    return this.#ended;
  }

  #nextRecorded(): ExecutionEvent | undefined {
    return this.#recording.next(this.steps);
  }
}

function rejected(error: unknown): Promise<never> {
  const deferred = new Deferred<never>();
  deferred.reject(error); // R5
  return deferred.promise;
}
