// RequestDesk: takes the host's requests to the partitions of this thread, and their answers back.
//
// Owns       nothing: a request in the making is a reply that a partition holds.
// Leaves     meaning and order to the partitions, packets to the outbox.

import type { FlowRegistry, PartitionDoor, Reply, Verdict } from "../../../actors/index.js";
import type { Refusal } from "../../../effects/index.js";
import {
  fromWire,
  HeddleError,
  partitionOf,
  toWire,
  type ValueLimits,
  type Wire,
} from "../../../kernel/index.js";
import { packFailure } from "../../packets/index.js";
import type { Outbox } from "../outbox.js";
import {
  type HostMessage,
  type ResumeMessage,
  type StartMessage,
  type ThreadMessage,
  ToHost,
  ToThread,
  type VerdictMessage,
} from "../protocol.js";
import type { HookWindow } from "./hook-window.js";
import type { News } from "./news.js";
import type { ThreadLedger } from "./thread-ledger.js";

export interface DeskOptions {
  readonly outbox: Outbox<HostMessage>;
  readonly registry: FlowRegistry;
  readonly news: News;
  readonly window: HookWindow;
  readonly ledger: ThreadLedger | undefined;
  /** Of the whole directory. */
  readonly partitions: number;
}

/** What was recorded may be sent. */
const NO_LIMITS: ValueLimits = { bytesMax: Infinity, depthMax: Infinity };

export class RequestDesk {
  readonly #options: DeskOptions;
  /** By the number of their partition. */
  readonly #doors = new Map<number, PartitionDoor>();

  constructor(options: DeskOptions) {
    this.#options = options;
  }

  open(doors: ReadonlyMap<number, PartitionDoor>): void {
    for (const [number, door] of doors) this.#doors.set(number, door);
  }

  take(message: ThreadMessage): void {
    const { news, window, ledger } = this.#options;
    switch (message[0]) {
      case ToThread.start:
        return this.#start(message);
      case ToThread.resume:
        return this.#resume(message);
      case ToThread.cancel: {
        const [, request, executionId, reason, force] = message;
        const reply = this.#replyTo(request);
        return this.#doorOf(executionId).send(executionId, { kind: "cancel", reason, force, reply });
      }
      case ToThread.verdict:
        return this.#verdict(message);
      case ToThread.watch: {
        const [, request, executionId, awaited] = message;
        return this.#answer(request, this.#doorOf(executionId).watch(executionId, awaited), (state) => [
          ToHost.reached,
          request,
          state.sequence,
        ]);
      }
      case ToThread.result: {
        const [, request, executionId] = message;
        return this.#answer(request, this.#doorOf(executionId).result(executionId), (output) => [
          ToHost.output,
          request,
          toWire(output, NO_LIMITS),
        ]);
      }
      case ToThread.follow:
        return news.follow(message[1]);
      case ToThread.unfollow:
        return news.unfollow(message[1]);
      case ToThread.heard:
        return news.heard(message[1]);
      case ToThread.taken:
        return window.taken(message[1]);
      case ToThread.admitted:
        return ledger?.answered(message[1], fromWire(message[2]) as Refusal | undefined);
    }
  }

  #start(message: StartMessage): void {
    const [, request, executionId, fresh, flowId, version, input, principal, deadlineMs] = message;
    const reply = this.#replyTo(request);
    const flow = this.#options.registry.find(flowId, version);
    if (flow)
      return this.#doorOf(executionId).start({
        executionId,
        fresh,
        flow,
        input,
        principal,
        deadlineMs,
        reply,
      });
    reply.reject(
      new HeddleError(
        "FLOW_UNKNOWN",
        `The module of workers.app exports no flow ${flowId} version ${version}: export it there, and open the app anew.`,
        { details: { flowId, version } },
      ),
    );
  }

  #resume(message: ResumeMessage): void {
    const [, number, executionId, eventType, payload, gateId, correlationKey, requestId] = message;
    const request = {
      eventType,
      payload: fromWire(payload),
      ...(gateId !== undefined && { gateId }),
      ...(correlationKey !== undefined && { correlationKey }),
      ...(requestId !== undefined && { requestId }),
    };
    const reply = this.#replyTo(number);
    this.#doorOf(executionId).send(executionId, { kind: "resume", request, reply });
  }

  #verdict([, request, executionId, stepId, kind, value]: VerdictMessage): void {
    const reply = this.#replyTo(request);
    const verdict: Verdict =
      kind === "outcome" ? { kind, output: value } : kind === "fail" ? { kind, error: value } : { kind };
    this.#doorOf(executionId).send(executionId, { kind: "verdict", stepId, verdict, reply });
  }

  #answer<T>(request: number, answered: Promise<T>, say: (answer: T) => HostMessage): void {
    const { outbox } = this.#options;
    const fail = (error: unknown): void => outbox.post([ToHost.failed, request, packFailure(error)]);
    answered.then((found) => outbox.post(say(found))).catch(fail);
  }

  #replyTo(request: number): Reply<void> {
    const { outbox } = this.#options;
    return {
      resolve: () => outbox.post([ToHost.done, request]),
      reject: (error) => outbox.post([ToHost.failed, request, packFailure(error) satisfies Wire]),
    };
  }

  #doorOf(executionId: string): PartitionDoor {
    const door = this.#doors.get(partitionOf(executionId, this.#options.partitions));
    if (door) return door;
    throw new HeddleError("INVARIANT_BROKEN", `A request for ${executionId} came to the wrong thread.`);
  }
}
