// ThreadDoor: a partition of another thread as the runtime sees it. Changes go to the thread; states are read here, from
// the log they are in.

import {
  type Awaited,
  type Command,
  type PartitionDoor,
  type StartRequest,
  type StateReader,
  unknownExecution,
} from "../../actors/index.js";
import {
  contained,
  Deferred,
  type ExecutionHeader,
  type ExecutionState,
  HeddleError,
  toWire,
  type ValueLimits,
} from "../../kernel/index.js";
import type { PartitionReads } from "../../kernel/store/partition-reads.js";
import type { PartitionThread } from "./partition-thread.js";
import { ToThread } from "./protocol.js";

export interface ThreadDoorOptions {
  readonly thread: PartitionThread;
  readonly reads: PartitionReads;
  readonly states: StateReader;
  readonly limits: ValueLimits;
}

export class ThreadDoor implements PartitionDoor {
  readonly #thread: PartitionThread;
  readonly #reads: PartitionReads;
  readonly #states: StateReader;
  readonly #limits: ValueLimits;

  constructor({ thread, reads, states, limits }: ThreadDoorOptions) {
    this.#thread = thread;
    this.#reads = reads;
    this.#states = states;
    this.#limits = limits;
  }

  start({ executionId, fresh, flow, input, principal, deadlineMs, reply }: StartRequest): void {
    const { id, version } = flow.definition;
    const number = this.#thread.next();
    this.#thread.change(
      [ToThread.start, number, executionId, fresh, id, version, input, principal, deadlineMs],
      reply,
    );
  }

  send(executionId: string, command: Command): void {
    const number = this.#thread.next();
    if (command.kind === "cancel") {
      const { reason, force, reply } = command;
      this.#thread.change([ToThread.cancel, number, executionId, reason, force], reply);
      return;
    }
    if (command.kind === "verdict") {
      const { stepId, verdict } = command;
      const value =
        verdict.kind === "outcome" ? verdict.output : verdict.kind === "fail" ? verdict.error : undefined;
      this.#thread.change(
        [ToThread.verdict, number, executionId, stepId, verdict.kind, value],
        command.reply,
      );
      return;
    }
    const { eventType, payload, gateId, correlationKey, requestId } = command.request;
    const wire = toWire(payload, this.#limits);
    this.#thread.change(
      [ToThread.resume, number, executionId, eventType, wire, gateId, correlationKey, requestId],
      command.reply,
    );
  }

  watch(executionId: string, awaited: Awaited): Promise<ExecutionState> {
    const reached = new Deferred<number>();
    this.#thread.wait([ToThread.watch, this.#thread.next(), executionId, awaited], reached);
    return contained(reached.promise.then((sequence) => this.#stateAt(executionId, sequence)));
  }

  result(executionId: string): Promise<unknown> {
    const output = new Deferred<unknown>();
    this.#thread.wait([ToThread.result, this.#thread.next(), executionId], output);
    return output.promise;
  }

  state(executionId: string): Promise<ExecutionState> {
    return contained(this.#stateAt(executionId, Infinity));
  }

  async flowOf(executionId: string): Promise<string | undefined> {
    return (await this.#headerOf(executionId))?.flowId;
  }

  async #headerOf(executionId: string): Promise<ExecutionHeader | undefined> {
    const [header] = await this.#reads.lookup([executionId]);
    if (header instanceof HeddleError) throw header;
    return header;
  }

  /** What a watcher waited for is where it was when it was told, not where it has gone since. */
  async #stateAt(executionId: string, sequence: number): Promise<ExecutionState> {
    const header = await this.#headerOf(executionId);
    if (!header) throw unknownExecution(executionId);
    return this.#states.read(this.#reads, header, sequence);
  }
}
