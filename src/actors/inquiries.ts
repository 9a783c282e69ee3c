// Inquiries: what the log of a partition says of its executions, to callers and to those who wait.
//
// Owns       nothing: it reads what is durable.
// Leaves     what is in memory to the partition, who waits to the watchers.
//
// Q1  Whoever asks is answered from what is durable, after everything that was on its way when they asked. What a log shows
//     may be committed and not durable, so an answer that was read waits for what was on its way when it was read.
// Q2  A watcher may come after what it waits for: the log is asked for that once, when nothing of the execution is in memory.

import {
  type ExecutionHeader,
  type ExecutionState,
  fold,
  HeddleError,
  type PartitionLog,
  revealState,
  sameWire,
  type Unseal,
  type Vault,
} from "../kernel/index.js";
import type { Actor, Move } from "./actor.js";
import { explainClosedGate } from "./closed-gate.js";
import type { StartRequest } from "./intake.js";
import type { Reply, ResumeRequest } from "./messages.js";
import { unknownExecution } from "./refusals.js";
import type { StateReader } from "./state-reader.js";
import { type Awaited, isAtGate, type Standing, Watchers } from "./watchers.js";

/** What it needs to know of the partition. */
export interface InquiriesHost {
  /** Resolves when everything handed to the log so far is durable; never rejects. */
  readonly released: Promise<void>;
  /** Why nobody can be answered; undefined while somebody can. */
  readonly refusal: HeddleError | undefined;
  find(executionId: string): Actor | undefined;
}

export interface InquiriesOptions {
  readonly log: PartitionLog;
  readonly states: StateReader;
  readonly vault: Vault;
  readonly host: InquiriesHost;
}

export class Inquiries {
  readonly #log: PartitionLog;
  readonly #states: StateReader;
  readonly #vault: Vault;
  readonly #host: InquiriesHost;
  readonly #watchers: Watchers;

  constructor({ log, states, vault, host }: InquiriesOptions) {
    this.#log = log;
    this.#states = states;
    this.#vault = vault;
    this.#host = host;
    this.#watchers = new Watchers(vault);
  }

  // ── Asking once ───────────────────────────────────────────────────────────────────────────────────────────────

  /** The state as of everything that is durable by now. */
  async state(executionId: string, unseal?: Unseal): Promise<ExecutionState> {
    await this.#host.released; // Q1
    const state = await this.#states.read(this.#log, await this.#known(executionId), Infinity, unseal);
    await this.#host.released; // a log may show what is committed and not yet durable
    return state;
  }

  async flowOf(executionId: string): Promise<string | undefined> {
    return (await this.#header(executionId))?.flowId;
  }

  /** Answers a start whose id is taken: it attaches to the same execution, or is refused by another. */
  answerTakenId(request: StartRequest): void {
    void answering(request.reply, async () => {
      const { executionId, flow, input } = request;
      await this.#host.released; // whoever took the id may not be durable yet
      const header = await this.#known(executionId);
      const conflict =
        header.flowId === flow.definition.id
          ? await this.#inputConflict(header, input)
          : `runs flow ${header.flowId}`;
      if (!conflict) return;
      throw new HeddleError(
        "EXECUTION_CONFLICT",
        `The id ${executionId} is taken: that execution ${conflict}. Choose another id, or use the handle of the existing one.`,
        { details: { executionId, flowId: header.flowId } },
      );
    });
  }

  /** Answers a resume that found no open gate. */
  answerClosedResume(executionId: string, request: ResumeRequest, reply: Reply<void>): void {
    void answering(reply, async () => {
      const problem = explainClosedGate(await this.state(executionId), request);
      if (problem) throw problem;
    });
  }

  async #header(executionId: string): Promise<ExecutionHeader | undefined> {
    const [header] = await this.#log.lookup([executionId]);
    if (header instanceof HeddleError) throw header;
    return header;
  }

  async #known(executionId: string): Promise<ExecutionHeader> {
    const header = await this.#header(executionId);
    if (!header) throw this.#host.refusal ?? unknownExecution(executionId);
    return header;
  }

  async #inputConflict(
    { id, key }: ExecutionHeader,
    input: StartRequest["input"],
  ): Promise<string | undefined> {
    const [records] = await this.#log.load([key]);
    if (records === undefined || records instanceof HeddleError) return "has an unreadable log";
    const [started] = records[0]?.events ?? [];
    const isSame =
      started?.type === "EXECUTION_STARTED" &&
      (sameWire(started.input, input) ||
        sameWire(this.#vault.opened(id, started.input), this.#vault.opened(id, input)));
    return isSame ? undefined : "was started with another input";
  }

  // ── Waiting ───────────────────────────────────────────────────────────────────────────────────────────────────

  /** Waits until the execution gets there, as far as it is durable. */
  watch(executionId: string, awaited: Awaited): Promise<ExecutionState> {
    const waiting = this.#watchers.awaitState(executionId, awaited);
    this.#lookFor(executionId);
    return waiting;
  }

  /** Waits for the output of the flow. */
  result(executionId: string): Promise<unknown> {
    const waiting = this.#watchers.awaitResult(executionId);
    this.#lookFor(executionId);
    return waiting;
  }

  /** Tells watchers what has just become durable. */
  moved({ actor, standing, record, header }: Move): void {
    const { id, recent } = actor;
    if (!this.#watchers.await(id, standing)) return;
    this.#watchers.notify({
      executionId: id,
      standing,
      last: record?.events.at(-1),
      state: (unseal) =>
        recent
          ? revealState(id, fold(recent, undefined, header.sequence), unseal)
          : this.#states.read(this.#log, actor, header.sequence, unseal),
    });
  }

  /** Tells watchers how an execution stands that has nothing under way. */
  stands(executionId: string, standing: Standing): void {
    if (!this.#watchers.await(executionId, standing)) return;
    this.#watchers.notify({
      executionId,
      standing,
      last: undefined,
      state: (unseal) => this.state(executionId, unseal),
    });
  }

  rejectAll(error: HeddleError): void {
    this.#watchers.rejectAll(error);
  }

  /** If something of it is under way, the next release tells. (Q2) */
  #lookFor(executionId: string): void {
    const hot = this.#host.find(executionId);
    const { refusal } = this.#host;
    if (refusal) this.#watchers.reject(executionId, refusal);
    else if (!hot) void this.#lookForCold(executionId);
    else if (hot.unreleased === 0) this.stands(executionId, hot.durable);
  }

  async #lookForCold(executionId: string): Promise<void> {
    try {
      const header = await this.#known(executionId);
      if (this.#host.find(executionId) || header.status === "running") return; // its release will tell
      const { status, aside } = header;
      const atGate = !aside && isAtGate(await this.#states.read(this.#log, header));
      this.stands(executionId, { status, atGate, aside });
    } catch (error) {
      this.#watchers.reject(executionId, error);
    }
  }
}

async function answering(reply: Reply<void>, find: () => Promise<void>): Promise<void> {
  try {
    await find();
    reply.resolve();
  } catch (error) {
    reply.reject(error);
  }
}
