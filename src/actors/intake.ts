// Intake: how executions come into memory. Starts, messages for executions that are not there, due timers, and
// recovery all end in an actor with a restored log in the queue. Reads are batched: one trip to the log a pass.
//
// I1  An id names one execution: a start finds the one that exists, in memory or in the log, before it makes another.
// I2  Whoever sends to an execution that is unknown or has ended is told so; nothing is dropped silently.
// I3  What cannot be restored is set aside with the reason, and the rest goes on (C-LIF-02).
// I4  While there is no room, starts wait in the order they came, and what is to be recovered stays in the log (C-EFF-03).
// I5  Recovery takes up executions once no timer is due: a retry whose timer is still in the index was not dispatched, and what
//     was not dispatched is not in doubt. What a message reaches before that waits too (`waitsForTimers`).
// I6  Passes go on committing while the log is read. What was read of an execution that left memory meanwhile is out of date, and
//     is read again.
// I7  A log with an end that its owner has not written was written by another owner: this one goes no further.

import {
  CURRENT_FLAGS,
  type ExecutionHeader,
  HeddleError,
  isEnding,
  isTerminal,
  type LogRecord,
  type PartitionLog,
  type RegisteredFlow,
  type SetAside,
  type TimerRow,
  type Wire,
  wireBytes,
} from "../kernel/index.js";
import { Actor, type ActorHost, endedError } from "./actor.js";
import type { Admission } from "./admission.js";
import type { FlowRegistry } from "./flow-registry.js";
import { type Message, type Reply, type ResumeRequest, rejectMessage } from "./messages.js";
import { unknownExecution } from "./refusals.js";
import type { Timers } from "./timers.js";

export interface StartRequest {
  readonly executionId: string;
  /** The id was just made, so nobody can have used it. */
  readonly fresh: boolean;
  readonly flow: RegisteredFlow;
  readonly input: Wire;
  readonly principal?: Wire;
  /** From when it begins. Default: what its flow says. */
  readonly deadlineMs?: number | undefined;
  readonly reply: Reply<void>;
}

/** What intake needs of its partition. */
export interface IntakeHost extends ActorHost {
  find(executionId: string): Actor | undefined;
  admit(actor: Actor): void;
  /** Answers a start whose id is taken, from the log. */
  attach(request: StartRequest): void;
  /** Answers a resume that found no open gate, from the log. */
  answerClosedResume(executionId: string, request: ResumeRequest, reply: Reply<void>): void;
}

/** Executions taken up per pass while recovering: memory stays in proportion to what is at work. */
const RECOVERED_PER_PASS = 256;

const QUARANTINED: SetAside = {
  code: "EXECUTION_QUARANTINED",
  message:
    "The threads that ran it ended while they did. Mend what it runs, or cancel it by force; the next opening tries it again.",
};

interface Scan {
  readonly status: "setAside" | "running" | "suspended";
  after: number;
  /** Executions from this key on were started later: whoever started them knows of them. */
  readonly end: number;
}

interface HeldStart {
  readonly request: StartRequest;
  readonly bytes: number;
}

export interface IntakeOptions {
  readonly log: PartitionLog;
  readonly registry: FlowRegistry;
  readonly timers: Timers;
  readonly admission: Admission;
  /** Executions that are not to run here. */
  readonly quarantined?: ReadonlySet<string> | undefined;
  readonly host: IntakeHost;
}

export class Intake {
  readonly #log: PartitionLog;
  readonly #registry: FlowRegistry;
  readonly #timers: Timers;
  readonly #host: IntakeHost;
  #nextKey: number;
  readonly #admission: Admission;
  readonly #quarantined: ReadonlySet<string> | undefined;
  #starts: StartRequest[] = [];
  /** Starts that wait for room. */
  #held: HeldStart[] = [];
  #messages = new Map<string, Message[]>();
  #scans: Scan[] = [];
  /** Executions that left memory since the present reads began. */
  readonly #left = new Set<string>();
  #isReading = false;

  constructor({ log, registry, timers, admission, quarantined, host }: IntakeOptions) {
    this.#log = log;
    this.#registry = registry;
    this.#timers = timers;
    this.#admission = admission;
    this.#quarantined = quarantined;
    this.#host = host;
    this.#nextKey = log.nextKey;
  }

  start(request: StartRequest): void {
    this.#starts.push(request);
  }

  send(executionId: string, message: Message): void {
    const waiting = this.#messages.get(executionId);
    if (waiting) waiting.push(message);
    else this.#messages.set(executionId, [message]);
  }

  /** Goes through everything that may have work to do: after opening, and after a failure. */
  scanAll(): void {
    // What stands aside comes first: what the other looks put there need not be tried again at once.
    this.#scans = [this.#scan("setAside"), this.#scan("running"), this.#scan("suspended")];
  }

  scanSetAside(): void {
    this.#scans.push(this.#scan("setAside"));
  }

  /** Ends a recovery that is under way: no more executions are taken up. */
  giveUpScans(): void {
    this.#scans = [];
  }

  #scan(status: Scan["status"]): Scan {
    return { status, after: -1, end: this.#nextKey };
  }

  hasWork(now: number): boolean {
    return (
      this.#starts.length > 0 ||
      this.#messages.size > 0 ||
      this.#timers.isDue(now) ||
      (this.#admission.hasRoom && (this.#held.length > 0 || this.#scans.length > 0))
    );
  }

  /** Drops everything that waits, telling those who wait for an answer. */
  rejectAll(error: HeddleError): void {
    for (const { reply } of this.#starts) reply.reject(error);
    this.rejectHeld(error);
    for (const message of [...this.#messages.values()].flat()) rejectMessage(message, error);
    this.#starts = [];
    this.#messages = new Map();
    this.#scans = [];
  }

  /** Refuses the starts that wait for room. */
  rejectHeld(error: HeddleError): void {
    const held = this.#held;
    this.#held = [];
    for (const { request, bytes } of held) {
      this.#admission.unhold(bytes);
      request.reply.reject(error);
    }
  }

  /** I6: an actor leaves memory. */
  left(executionId: string): void {
    if (this.#isReading) this.#left.add(executionId);
  }

  /** Brings in what waits. Afterwards the actors concerned stand in the queue. */
  async take(now: number): Promise<void> {
    this.#isReading = true;
    try {
      await this.#take(now);
    } finally {
      this.#isReading = false;
      this.#left.clear();
    }
  }

  async #take(now: number): Promise<void> {
    if (this.#held.length > 0) this.#releaseHeld();
    if (this.#starts.length > 0) await this.#takeStarts(now);
    if (this.#messages.size > 0) await this.#takeMessages();
    if (this.#timers.isDue(now)) await this.#takeTimers(await this.#timers.takeDue(now));
    // I5: what a due timer wakes has to hear of it before it looks at what was in flight.
    if (this.#scans.length > 0 && this.#admission.hasRoom && !this.#timers.isDue(now)) await this.#scanSome();
  }

  /** Restores those of `actors` whose log is not in memory. */
  async restore(actors: readonly Actor[]): Promise<void> {
    let cold: Actor[] | undefined;
    for (const actor of actors) {
      if (actor.cold || actor.aside) (cold ??= []).push(actor);
    }
    if (!cold) return;
    const logs = await this.#log.load(cold.map((actor) => actor.key));
    await this.#checkOwner(cold.filter((_, i) => hasEnded(logs[i]!)));
    for (const [i, actor] of cold.entries()) {
      const records = logs[i]!;
      if (records instanceof HeddleError) {
        actor.setAside({ code: "RECORD_UNREADABLE", message: records.message });
        continue;
      }
      const flow = this.#registry.find(actor.flowId, actor.flowVersion);
      try {
        if (this.#quarantined?.has(actor.id)) actor.restoreSetAside(records, QUARANTINED);
        else if (flow) actor.restore(records, flow);
        else actor.restoreSetAside(records, this.#registry.missing(actor.flowId, actor.flowVersion));
      } catch (error) {
        actor.setAsideBy(error);
      }
    }
  }

  /** I7: where the header knows of no end either, the log is damaged, and that is a matter of this execution alone. */
  async #checkOwner(ended: readonly Actor[]): Promise<void> {
    if (ended.length === 0) return;
    const headers = await this.#log.headers(ended.map(({ key }) => key));
    for (const header of headers) {
      if (!header || header instanceof HeddleError || !isTerminal(header.status)) continue;
      throw new HeddleError(
        "STORAGE_FAILED",
        `Partition ${this.#log.partition} has another owner: execution ${header.id} has ended there.`,
        { details: { partition: this.#log.partition, executionId: header.id } },
      );
    }
  }

  async #takeStarts(now: number): Promise<void> {
    const starts = this.#starts;
    this.#starts = [];
    const named = starts.filter((request) => !request.fresh);
    const taken = new Set<string>();
    if (named.length > 0) {
      const headers = await this.#lookup(
        named.map((request) => request.executionId),
        () => {
          this.#starts = [...starts, ...this.#starts];
        },
      );
      for (const [i, header] of headers.entries()) {
        if (header) taken.add(named[i]!.executionId);
      }
    }
    for (const request of starts) {
      const { executionId } = request;
      if (taken.has(executionId) || this.#host.find(executionId) || this.#left.has(executionId))
        this.#host.attach(request); // I1
      else if (this.#admission.hasRoom) this.#begin(request, now);
      else this.#hold(request);
    }
  }

  /** I4 */
  #hold(request: StartRequest): void {
    const bytes = wireBytes(request.input);
    const refusal = this.#admission.hold(bytes);
    if (refusal) request.reply.reject(refusal);
    else this.#held.push({ request, bytes });
  }

  /** As many as there is room for; they are looked at anew, because their ids may have been taken meanwhile. */
  #releaseHeld(): void {
    const released = this.#held.splice(0, this.#admission.room);
    for (const { bytes } of released) this.#admission.unhold(bytes);
    this.#starts = [...released.map(({ request }) => request), ...this.#starts];
  }

  #begin(request: StartRequest, now: number): void {
    const { executionId, flow, input, principal, reply } = request;
    const { id: flowId, version: flowVersion } = flow.definition;
    const { deadlineMs = flow.definition.deadlineMs } = request;
    const deadlineAt = deadlineMs === undefined ? undefined : now + Math.ceil(deadlineMs);
    const actor = new Actor(
      this.#host,
      {
        key: this.#nextKey++,
        id: executionId,
        flowId,
        flowVersion,
        status: "running",
        sequence: -1,
        createdAt: now,
        updatedAt: now,
        aside: undefined,
      },
      flow,
      undefined,
    );
    actor.begin(
      { type: "EXECUTION_STARTED", flowId, flowVersion, input, flags: CURRENT_FLAGS, principal, deadlineAt },
      reply,
    );
    this.#host.admit(actor);
    this.#host.enqueue(actor);
  }

  async #takeMessages(): Promise<void> {
    const messages = [...this.#messages];
    this.#messages = new Map();
    const headers = await this.#lookup(
      messages.map(([id]) => id),
      () => {
        for (const [id, waiting] of messages) for (const message of waiting) this.send(id, message);
      },
    );
    for (const [i, [executionId, waiting]] of messages.entries()) {
      const header = headers[i];
      // An execution begun in this very pass is not in the log yet; whoever sends to it right away means that one.
      const hot = this.#host.find(executionId);
      for (const message of waiting) {
        if (hot) hot.post(message);
        else if (this.#left.has(executionId))
          this.send(executionId, message); // I6
        else if (header instanceof HeddleError) rejectMessage(message, header);
        else if (header && isTakenIn(header, message)) this.#deliver(header, message);
        else this.#answerAbsent(executionId, header, message);
      }
    }
  }

  /** I2: when the log cannot be read, what was taken is put back, so that whoever waits is told with the rest. */
  async #lookup(
    ids: readonly string[],
    putBack: () => void,
  ): Promise<(ExecutionHeader | HeddleError | undefined)[]> {
    try {
      return await this.#log.lookup(ids);
    } catch (error) {
      putBack();
      throw error;
    }
  }

  /** I2 */
  #answerAbsent(executionId: string, header: ExecutionHeader | undefined, message: Message): void {
    if (!("reply" in message)) return;
    const { reply } = message;
    if (!header) reply.reject(unknownExecution(executionId));
    else if (message.kind === "resume") this.#host.answerClosedResume(executionId, message.request, reply);
    else if (message.kind === "cancel" && header.status === "cancelled") reply.resolve();
    else reply.reject(endedError(executionId, header.status));
  }

  async #takeTimers(rows: readonly TimerRow[]): Promise<void> {
    if (rows.length === 0) return;
    const headers = await this.#log.headers(rows.map((row) => row.key));
    for (const [i, { wakeAt, gateId }] of rows.entries()) {
      const header = headers[i];
      if (header && !(header instanceof HeddleError))
        this.#deliver(header, { kind: "timerDue", wakeAt, timerId: gateId });
    }
  }

  /**
   * One portion of recovery. What was running is woken; what was set aside is tried again; what is suspended stays where
   * it is, unless its flow is missing, which is better said now than when somebody resumes it.
   */
  async #scanSome(): Promise<void> {
    const [scan] = this.#scans;
    if (!scan) return;
    const portion = Math.min(RECOVERED_PER_PASS, this.#admission.room);
    const headers = await this.#log.page(scan.status, scan.after, portion);
    for (const header of headers) {
      scan.after = header.key;
      if (header.key >= scan.end) break;
      if ("unreadable" in header) {
        this.#host.warn(
          `An execution filed as ${scan.status} is out of reach (key ${header.key}): ${header.unreadable.message}`,
        ); // I3
        continue;
      }
      const runnable = this.#registry.find(header.flowId, header.flowVersion) !== undefined;
      if (scan.status === "suspended" ? !runnable : scan.status === "running" || runnable)
        this.#deliver(header, { kind: "wake" });
    }
    const isOver = headers.length < portion || scan.after >= scan.end;
    if (isOver && this.#scans[0] === scan) this.#scans.shift(); // while it read, another look may have begun
  }

  #deliver(header: ExecutionHeader, message: Message): void {
    let actor = this.#host.find(header.id);
    if (!actor && this.#left.has(header.id)) return this.send(header.id, message); // I6
    if (!actor) {
      actor = new Actor(
        this.#host,
        header,
        this.#registry.find(header.flowId, header.flowVersion),
        header.status,
      );
      this.#host.admit(actor);
    }
    actor.post(message);
  }
}

/** Whether its end may be in a log: late outcomes follow it. */
function hasEnded(log: readonly LogRecord[] | HeddleError): boolean {
  const last = log instanceof HeddleError ? undefined : log.at(-1)?.events.at(-1);
  return last !== undefined && (isEnding(last) || last.type === "OUTCOME_LATE");
}

/** Late outcomes are recorded after the end too, but nothing is recorded of what is set aside. */
function isTakenIn({ status }: ExecutionHeader, { kind }: Message): boolean {
  return kind === "late" ? status !== "setAside" : !isTerminal(status);
}
