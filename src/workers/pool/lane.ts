// Lane: the host's end of one thread. A lane is one long task of Piscina's that ends when the lane is retired; Piscina
// makes the thread, ends it and tells how it ended, while packets go over a port of the lane's own both ways.
//
// Owns       the calls sent and not finished, the ports, the claims.
// Leaves     which call goes where, deadlines and verdicts to the pool.
//
// L1  A lane ends once, and only when its thread has let go of the port: whatever the thread said before is heard first.
// L2  Ending a thread by force is aborting the task.
// L3  An idle lane is retired after a moment, because a task under way is what keeps a host alive. The thread stays warm,
//     its module loaded, until Piscina finds it idle for too long.

import { MessageChannel, type MessagePort } from "node:worker_threads";
import type { Piscina } from "piscina";
import { toWire, type Wire } from "../../kernel/codec/index.js";
import { HeddleError, type UsageReport, type ValueLimits } from "../../kernel/index.js";
import { ControlLine } from "../control-line.js";
import { PACKET_FORMAT, packFailure, postPacket, unpackFailure, unpackPacket } from "../packets/index.js";
import type { PendingCall, Seat } from "./call.js";
import { Claims, nextId, slotOf } from "./claims.js";
import type { ThreadControl } from "./control.js";
import {
  type HostMessage,
  isHostMessage,
  isPiece,
  type LaneTask,
  type ThreadMessage,
  ToHost,
  ToThread,
} from "./protocol.js";
import { effectModule } from "./thread/effect-module.js";

export type LaneEnd =
  | { readonly kind: "retired" }
  /** The thread could not begin: its module is at fault. */
  | { readonly kind: "refused"; readonly error: unknown }
  | { readonly kind: "killed" }
  /** `blame` is the id of a call, or NOBODY; undefined when the thread had no chance to say. */
  | { readonly kind: "died"; readonly error: unknown; readonly blame: number | undefined };

/** Who has lanes. */
export interface LaneOwner {
  opened(lane: Lane): void;
  started(call: PendingCall, lane: Lane): void;
  emitted(call: PendingCall, eventType: string, payload: Wire): void;
  metered(call: PendingCall, usage: UsageReport): void;
  /** Its result comes in pieces. */
  streaming(call: PendingCall, form: Wire, lane: Lane): void;
  /** `now` is when the packet came. */
  completed(call: PendingCall, output: Wire, runMs: number, now: number): void;
  failed(call: PendingCall, error: unknown, hasStopped: boolean, runMs: number, now: number): void;
  /** After each packet. */
  heard(lane: Lane): void;
  ended(lane: Lane, end: LaneEnd): void;
}

export interface LaneOptions {
  readonly piscina: Piscina;
  readonly module: string;
  readonly loadTimeoutMs: number;
  readonly limits: ValueLimits;
  readonly maxCalls: number;
}

/** A packet does not grow beyond this by taking in more calls, so that the first need not wait for the last. */
const PACKET_BYTES = 256 * 1024;

export class Lane implements Seat {
  phase: "opening" | "open" | "retiring" | "ended" = "opening";
  threadId = 0;
  /** Calls finished. */
  done = 0;
  idleSince = 0;
  /** Whether it runs one suspect, and nothing beside it. */
  isSolo = false;
  readonly control: ControlLine<ThreadControl>;
  /** Resolves when it has ended, and its owner knows. */
  readonly over: Promise<void>;
  readonly #owner: LaneOwner;
  readonly #claims = new Claims();
  readonly #port: MessagePort;
  readonly #abort = new AbortController();
  readonly #loadTimer: NodeJS.Timeout;
  /** By slot, in the order they were sent. */
  readonly #calls = new Map<number, PendingCall>();
  #lastId = 0;
  #outbox: ThreadMessage[] = [];
  #outboxBytes = 0;
  #blame: number | undefined;
  #refusal: { readonly error: unknown } | undefined;
  #death: unknown;

  constructor(owner: LaneOwner, { piscina, loadTimeoutMs, ...task }: LaneOptions) {
    this.#owner = owner;
    const packets = new MessageChannel();
    const control = new MessageChannel();
    this.#port = packets.port1;
    this.control = new ControlLine<ThreadControl>(control.port1);
    const closed = new Promise<void>((resolve) => this.#port.once("close", resolve));
    this.#port.on("message", (packet) => this.#receive(packet));
    // What keeps a host alive while calls are under way is Piscina's task (L3).
    this.#port.unref();
    const message: LaneTask = {
      format: PACKET_FORMAT,
      claims: this.#claims.memory,
      packets: packets.port2,
      control: control.port2,
      ...task,
    };
    const run = piscina.run(message, {
      name: "openLane",
      transferList: [packets.port2, control.port2],
      signal: this.#abort.signal,
    }) as Promise<void>;
    const overdue = (): void =>
      this.kill(effectModule(task.module).overdue(loadTimeoutMs, "workers.effects.loadTimeoutMs"));
    this.#loadTimer = setTimeout(overdue, loadTimeoutMs).unref();
    this.over = this.#follow(run, closed);
  }

  /** Calls sent and not finished, those that were settled early among them. */
  get load(): number {
    return this.#calls.size;
  }

  send(call: PendingCall, now: number): void {
    let id = this.#lastId;
    do id = nextId(id);
    while (this.#calls.has(slotOf(id)));
    this.#lastId = id;
    this.#calls.set(slotOf(id), call);
    call.seat = this;
    call.id = id;
    call.sentAt = now;
    this.#claims.offer(id);
    const { request } = call;
    this.#outbox.push([
      ToThread.call,
      id,
      request.effectId,
      call.input,
      request.executionId,
      request.workflowId,
      request.stepId,
      request.attempt,
      request.toolId === request.effectId ? null : request.toolId,
      request.taskKind,
      request.idempotencyKey,
      request.timeoutMs !== undefined || request.onStart !== undefined,
      toWire(request.principal),
      call.blobs.length === 0 ? null : call.blobs.map(({ key, isBuffer }) => [key, isBuffer] as const),
    ]);
    for (const { bytes } of call.blobs) this.#port.postMessage([id, ownBytes(bytes)]);
    this.#outboxBytes += call.bytes;
  }

  isPacketFull(maxCalls: number): boolean {
    return this.#outbox.length >= maxCalls || this.#outboxBytes >= PACKET_BYTES;
  }

  flush(): void {
    if (this.#outbox.length === 0 || this.phase === "ended") return;
    postPacket(this.#port, this.#outbox);
    this.#outbox = [];
    this.#outboxBytes = 0;
  }

  /** Takes a call away from the thread, unless it has started. */
  takeBack(call: PendingCall): boolean {
    if (!this.#claims.revoke(call.id)) return false;
    this.#calls.delete(slotOf(call.id));
    call.seat = undefined;
    call.stopTimer();
    return true;
  }

  /** The calls that were sent before `sentBefore` and have not started, oldest first. */
  unstarted(sentBefore: number): PendingCall[] {
    return [...this.#calls.values()].filter(
      (call) => call.sentAt <= sentBefore && !this.#claims.isClaimed(call.id),
    );
  }

  /** Everything the lane has, oldest first; it has nothing then. */
  takeAll(): PendingCall[] {
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    return calls;
  }

  calls(): Iterable<PendingCall> {
    return this.#calls.values();
  }

  cancel(call: PendingCall, reason: unknown): void {
    this.#outbox.push([ToThread.cancel, call.id, packFailure(reason)]);
    this.flush();
  }

  /** A piece of the call's stream was taken. */
  taken(call: PendingCall): void {
    this.#outbox.push([ToThread.taken, call.id]);
    this.flush();
  }

  /** Only without load. */
  retire(): void {
    this.phase = "retiring";
    this.#outbox.push([ToThread.retire]);
    this.flush();
  }

  /** L2. With an error, it counts as the way the thread died by itself. */
  kill(error?: unknown): void {
    this.#death = error;
    this.#abort.abort();
  }

  #receive(packet: unknown): void {
    try {
      if (isPiece(packet)) {
        const [id, part] = packet;
        const call = this.#calls.get(slotOf(id));
        if (call?.id === id) call.stream?.push(part);
        return;
      }
      const now = performance.now();
      for (const message of unpackPacket(packet)) if (isHostMessage(message)) this.#take(message, now);
    } catch (error) {
      // Nothing a thread sends may be the end of the host.
      return this.kill(error);
    }
    this.#owner.heard(this);
  }

  #take(message: HostMessage, now: number): void {
    // Whoever survives its last words has not said them about its end.
    this.#blame = undefined;
    switch (message[0]) {
      case ToHost.opened:
        clearTimeout(this.#loadTimer);
        this.threadId = message[1];
        this.phase = "open";
        return this.#owner.opened(this);
      case ToHost.refused:
        this.#refusal = { error: unpackFailure(message[1]) };
        return undefined;
      case ToHost.dying:
        this.#blame = message[1];
        return undefined;
      default:
        return this.#takeFor(message, now);
    }
  }

  #takeFor(
    message: Exclude<
      HostMessage,
      readonly [kind: typeof ToHost.opened | typeof ToHost.refused | typeof ToHost.dying, ...unknown[]]
    >,
    now: number,
  ): void {
    const call = this.#calls.get(slotOf(message[1]));
    if (call === undefined || call.id !== message[1]) return;
    switch (message[0]) {
      case ToHost.started:
        return this.#owner.started(call, this);
      case ToHost.emitted:
        return this.#owner.emitted(call, message[2], message[3]);
      case ToHost.metered:
        return this.#owner.metered(call, { tokens: message[2], cost: message[3] });
      case ToHost.streaming:
        return this.#owner.streaming(call, message[2], this);
      case ToHost.completed:
        this.#finish(call);
        return this.#owner.completed(call, message[3], message[2] / 1_000, now);
      case ToHost.failed:
        this.#finish(call);
        return this.#owner.failed(call, unpackFailure(message[3]), message[4], message[2] / 1_000, now);
    }
  }

  #finish(call: PendingCall): void {
    this.#calls.delete(slotOf(call.id));
    this.done += 1;
  }

  async #follow(run: Promise<void>, closed: Promise<void>): Promise<void> {
    let end: LaneEnd;
    try {
      await run;
      this.#port.ref(); // a host with nothing else to do is not to end in the middle of this
      await closed; // L1
      end = this.#refusal ? { kind: "refused", ...this.#refusal } : { kind: "retired" };
    } catch (error) {
      // A thread that did not even take up its task says nothing, and may be alive.
      if (this.phase === "opening") this.#port.close();
      this.#port.ref();
      await closed; // L1
      if (this.#refusal) end = { kind: "refused", ...this.#refusal };
      else if (!this.#abort.signal.aborted) end = { kind: "died", error, blame: this.#blame };
      else if (this.#death === undefined) end = { kind: "killed" };
      else end = { kind: "died", error: this.#death, blame: undefined };
    }
    this.phase = "ended";
    clearTimeout(this.#loadTimer);
    const lineClosed = this.control.close(
      new HeddleError("EFFECT_WORKER_LOST", `Thread ${this.threadId} has ended; ask one that is alive.`),
    );
    this.#owner.ended(this, end);
    await lineClosed;
  }

  /** Whether a call has started; once the thread is gone, whether it had. */
  hasStarted(call: PendingCall): boolean {
    return this.#claims.isClaimed(call.id);
  }
}

/** To clone a part of some memory would be to clone all of it. */
function ownBytes(bytes: Uint8Array): Uint8Array {
  return bytes.length === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
}
