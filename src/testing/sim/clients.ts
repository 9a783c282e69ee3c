// Clients: those outside who start executions, answer their gates, cancel them, decide doubts, and wait for their ends. They
// outlive processes, and ask again until they are answered.
//
// Owns       what was asked for and not yet answered.
// Leaves     what is right and wrong about the answers to the checks.
//
// Q1  What is asked again bears the same ids, so that it may be taken once.
// Q2  A client learns of gates and doubts from what is durable, as a subscriber would.

import { type ExecutionState, HeddleError, isTerminal, type RegisteredFlow } from "../../kernel/index.js";
import type { ExecutionLog } from "./execution-log.js";
import type { Faults } from "./faults.js";
import type { Logs } from "./logs.js";
import type { Observer, Request } from "./observation.js";
import type { SimRandom } from "./random.js";
import type { Lane, Scheduler } from "./scheduler.js";
import type { SimProcess } from "./sim-process.js";

/** One execution, and what happens to it from outside. Times in milliseconds since the simulation began. */
export interface Subject {
  readonly executionId: string;
  readonly flow: RegisteredFlow;
  readonly input: unknown;
  readonly startAtMs: number;
  readonly deadlineMs?: number | undefined;
  readonly cancelAtMs?: number | undefined;
  readonly forceAtMs?: number | undefined;
  /** What a gate gets; undefined when nobody answers it. */
  readonly answer: (gate: {
    readonly on: string;
    readonly gateId: string;
  }) => { readonly payload: unknown } | undefined;
  readonly verdict: (stepId: string, attempt: number) => "outcome" | "fail" | "retry";
}

export interface ClientsOptions {
  readonly subjects: readonly Subject[];
  readonly scheduler: Scheduler;
  readonly random: SimRandom;
  readonly logs: Logs;
  readonly observer: Observer;
  readonly faults: () => Faults;
  /** Whether somebody else owns the log of an execution. */
  readonly isFenced: (process: string, executionId: string) => boolean;
  /** Whom a client asks: the owner of the log, as a rule. */
  readonly process: () => SimProcess | undefined;
}

/** Something a client wants done. */
interface Errand {
  readonly request: Request | undefined;
  /** Gives whether that was all. */
  readonly ask: (process: SimProcess) => Promise<boolean>;
  /** Whom it was asked of, while there is no answer. */
  askedOf: SimProcess | undefined;
  isDone: boolean;
}

/** A failure that says nothing of the request: it is made again. */
const PASSING = new Set(["STORAGE_FAILED", "PARTITION_LOCKED", "RUNTIME_CLOSED", "EXECUTION_UNKNOWN"]);
/** Somebody or something else was quicker. */
const TOO_LATE = new Set([
  "EXECUTION_ENDED",
  "GATE_NOT_OPEN",
  "GATE_ALREADY_RESOLVED",
  "STEP_NOT_IN_DOUBT",
  "EXECUTION_SET_ASIDE",
]);
const AGAIN_AFTER_MS = 1_500;
/** Clients that only look are not to keep a simulation going. */
const LOOKS_MAX = 40;
const GIVEN_BY_VERDICT = "found out";

export class Clients {
  readonly #options: ClientsOptions;
  readonly #lane: Lane;
  readonly #errands = new Map<string, Errand>();
  readonly #ends = new Map<string, ExecutionState>();
  #seen = -1;
  #looks = 0;
  /** What could not go on with the code at hand, and why. */
  readonly aside: HeddleError[] = [];
  /** Refusals that nothing a client did accounts for. */
  readonly unexpected: unknown[] = [];

  constructor(options: ClientsOptions) {
    this.#options = options;
    this.#lane = options.scheduler.lane("clients");
    for (const subject of options.subjects) this.#plan(subject);
  }

  /** How each execution ended, as far as somebody was told. */
  get ends(): ReadonlyMap<string, ExecutionState> {
    return this.#ends;
  }

  /** Looks for gates to answer and doubts to decide. (Q2) */
  look(): void {
    const { logs, subjects } = this.#options;
    if (logs.version === this.#seen) return;
    this.#seen = logs.version;
    for (const subject of subjects) {
      const log = logs.of(subject.executionId);
      if (log.hasEnded || !log.isDurable(0)) continue;
      this.#answerGates(subject, log);
      this.#decideDoubts(subject, log);
    }
  }

  /** A process is gone, and with it what it was asked. */
  gone(process: SimProcess): void {
    for (const errand of this.#errands.values())
      if (errand.askedOf === process) this.#answered(errand, process, false);
  }

  #plan(subject: Subject): void {
    const { executionId, flow, input, startAtMs, deadlineMs, cancelAtMs, forceAtMs } = subject;
    const deadline = deadlineMs === undefined ? {} : { deadlineMs };
    this.#request(
      { kind: "start", executionId },
      async ({ runtime }) => {
        await runtime.start(flow, input, { executionId, ...deadline });
        this.#watch(executionId);
      },
      startAtMs,
    );
    for (const [force, atMs] of [
      [false, cancelAtMs],
      [true, forceAtMs],
    ] as const) {
      if (atMs === undefined) continue;
      this.#request(
        { kind: "cancel", executionId, force },
        ({ runtime }) => runtime.cancel(executionId, "called off", { force }),
        atMs,
      );
    }
  }

  #watch(executionId: string): void {
    this.#errand(`watch ${executionId}`, undefined, async (process) => {
      const state = await process.runtime.handle(executionId).waitForCompletion();
      this.#shown(process, state);
      this.#ends.set(executionId, state);
      return true;
    });
    this.#errand(`look ${executionId}`, undefined, async (process) => {
      const state = await process.runtime.loadState(executionId);
      this.#shown(process, state);
      return (
        isTerminal(state.status) || this.#options.logs.of(executionId).hasEnded || this.#looks++ > LOOKS_MAX
      );
    });
  }

  #answerGates({ executionId, answer }: Subject, log: ExecutionLog): void {
    for (const { gateId, on, kind, openedAt, closedAt } of log.gates.values()) {
      if (kind !== "event" || closedAt !== undefined || !log.isDurable(openedAt)) continue;
      const given = answer({ on, gateId });
      if (!given) continue;
      const { payload } = given;
      const requestId = `answer-${gateId}`;
      this.#request({ kind: "resume", executionId, gateId, requestId, payload }, ({ runtime }) =>
        runtime.resume(executionId, { eventType: on, gateId, payload, requestId }),
      );
    }
  }

  #decideDoubts({ executionId, verdict }: Subject, log: ExecutionLog): void {
    for (const { stepId, doubtAt, requestedAt } of log.issues.values()) {
      if (!log.isDurable(doubtAt)) continue;
      const kind = verdict(stepId, requestedAt.length);
      this.#request(
        { kind: "verdict", executionId, stepId, verdict: kind },
        ({ runtime }) => runtime.resolveInDoubt(executionId, stepId, verdictOf(kind)),
        undefined,
        `at ${String(doubtAt)}`,
      );
    }
  }

  #request(
    request: Request,
    ask: (process: SimProcess) => Promise<unknown>,
    atMs?: number,
    occasion = "",
  ): void {
    const { observer, random, faults } = this.#options;
    const subject =
      request.kind === "resume" ? request.gateId : request.kind === "verdict" ? request.stepId : "";
    const name = [
      request.kind,
      request.executionId,
      subject,
      occasion,
      "force" in request && request.force,
    ].join(" ");
    const once = async (process: SimProcess): Promise<true> => {
      observer.see({ kind: "asked", process: process.name, request });
      await ask(process);
      observer.see({ kind: "acknowledged", process: process.name, request });
      return true;
    };
    this.#errand(
      name,
      request,
      (process) => {
        // Q1
        if (random.chance(faults().duplicateRequest)) once(process).catch(() => {});
        return once(process);
      },
      atMs,
    );
  }

  #errand(name: string, request: Request | undefined, ask: Errand["ask"], atMs?: number): void {
    if (this.#errands.has(name)) return;
    const errand: Errand = { request, ask, askedOf: undefined, isDone: false };
    this.#errands.set(name, errand);
    const { random, scheduler } = this.#options;
    this.#later(errand, atMs === undefined ? random.pick([0, 0, 1, 30, 700]) : atMs - scheduler.elapsed);
  }

  #later(errand: Errand, delayMs: number): void {
    this.#options.scheduler.schedule(this.#lane, Math.max(0, delayMs), () => this.#send(errand));
  }

  #send(errand: Errand): void {
    if (errand.isDone || errand.askedOf) return;
    const process = this.#options.process();
    if (!process) return this.#later(errand, AGAIN_AFTER_MS);
    errand.askedOf = process;
    errand.ask(process).then(
      (isDone) => this.#answered(errand, process, isDone),
      (error: unknown) => this.#refused(errand, process, error),
    );
  }

  #answered(errand: Errand, process: SimProcess, isDone: boolean): void {
    if (errand.askedOf !== process || errand.isDone) return;
    errand.askedOf = undefined;
    errand.isDone = isDone;
    if (!isDone) this.#later(errand, AGAIN_AFTER_MS);
  }

  #refused(errand: Errand, process: SimProcess, error: unknown): void {
    if (errand.askedOf !== process || errand.isDone) return;
    const code = error instanceof HeddleError ? error.code : String(error);
    const { request } = errand;
    if (request) this.#options.observer.see({ kind: "refused", process: process.name, request, code });
    if (code === "EXECUTION_SET_ASIDE" || code === "EXECUTION_DIVERGED")
      this.aside.push(error as HeddleError);
    // Who lost the log does not know better.
    const isMistaken = request !== undefined && this.#options.isFenced(process.name, request.executionId);
    if (PASSING.has(code) || isMistaken) return this.#answered(errand, process, false);
    if (!TOO_LATE.has(code)) this.unexpected.push(error);
    this.#answered(errand, process, true);
  }

  #shown(process: SimProcess, state: ExecutionState): void {
    const { observer, isFenced } = this.#options;
    observer.see({
      kind: "shown",
      process: process.name,
      state,
      isFenced: isFenced(process.name, state.executionId),
    });
  }
}

function verdictOf(kind: "outcome" | "fail" | "retry") {
  switch (kind) {
    case "outcome":
      return { outcome: GIVEN_BY_VERDICT };
    case "fail":
      return { fail: new Error("it did nothing") };
    case "retry":
      return { retry: true } as const;
  }
}
