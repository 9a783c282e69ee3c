// Protocol: what the pool and a thread of it say to each other, one union a direction. A message that is about a call
// names it by the id the lane gave it.

import type { MessagePort } from "node:worker_threads";
import type { TaskKind, ValueLimits, Wire } from "../../kernel/index.js";
import type { Message } from "../packets/index.js";

export const ToThread = { call: 0, cancel: 1, retire: 2, taken: 3 } as const;

/** The fields of an effect's context follow the input. `tellsStart`: whether the host wants `started`. */
export type CallMessage = readonly [
  kind: typeof ToThread.call,
  id: number,
  effectId: string,
  input: Wire,
  executionId: string,
  workflowId: string,
  stepId: string,
  attempt: number,
  /** Null: the same as effectId. */
  toolId: string | null,
  taskKind: TaskKind,
  idempotencyKey: string,
  tellsStart: boolean,
  principal: Wire,
  /** Where in the input the blobs belong that were sent before it, and what each was; null when there are none. */
  blobs: readonly (readonly [key: string | null, isBuffer: boolean])[] | null,
];

export type ThreadMessage =
  | CallMessage
  | readonly [kind: typeof ToThread.cancel, id: number, reason: Wire]
  | readonly [kind: typeof ToThread.retire]
  /** A piece of its stream was taken: its place may be used again. */
  | readonly [kind: typeof ToThread.taken, id: number];

export const ToHost = {
  started: 0,
  emitted: 1,
  completed: 2,
  failed: 3,
  opened: 4,
  refused: 5,
  dying: 6,
  metered: 7,
  streaming: 8,
} as const;

/** `runUs`: how long the effect ran, in microseconds. */
export type HostMessage =
  | readonly [kind: typeof ToHost.started, id: number]
  | readonly [kind: typeof ToHost.emitted, id: number, eventType: string, payload: Wire]
  | readonly [kind: typeof ToHost.metered, id: number, tokens: number, cost: number]
  /** The result comes in pieces; `completed` follows them, with the digest. */
  | readonly [kind: typeof ToHost.streaming, id: number, form: Wire]
  | readonly [kind: typeof ToHost.completed, id: number, runUs: number, output: Wire]
  /** `hasStopped`: it failed with the reason its signal was aborted for. */
  | readonly [kind: typeof ToHost.failed, id: number, runUs: number, failure: Wire, hasStopped: boolean]
  | readonly [kind: typeof ToHost.opened, threadId: number]
  | readonly [kind: typeof ToHost.refused, failure: Wire]
  /** The thread is about to end. `id`: the call whose doing it is, or `NOBODY`. */
  | readonly [kind: typeof ToHost.dying, id: number];

/** Instead of the id of a call, which is positive: no call's doing, but that of code the module runs by itself. */
export const NOBODY = 0;

/** What a lane's thread is given to start with. Crosses by structured clone. */
export interface LaneTask {
  readonly format: number;
  readonly module: string;
  readonly packets: MessagePort;
  readonly control: MessagePort;
  readonly claims: SharedArrayBuffer;
  readonly limits: ValueLimits;
  /** Results wait for each other up to this many. */
  readonly maxCalls: number;
}

/**
 * What crosses beside the packets, because a packet copies what it carries and leaves the copies to the garbage collector, who
 * does not hurry. Of a result that is a stream: first the memory that its pieces are written to in turn, then how long each piece
 * is. Of an input: a blob, before its call.
 */
export type Piece = readonly [id: number, part: SharedArrayBuffer | number | Uint8Array];

export const PIECE_BYTES = 64 * 1024;
/** Pieces of a stream that are sent and not taken, at most. */
export const PIECES_MAX = 16;

export const placeOf = (memory: SharedArrayBuffer, piece: number, length = PIECE_BYTES): Uint8Array =>
  new Uint8Array(memory, (piece % PIECES_MAX) * PIECE_BYTES, length);

/** Everything else between the two is packed. */
export const isPiece = (packet: unknown): packet is Piece => Array.isArray(packet);

// Both ends are of one build (PACKET_FORMAT), so a message of a known kind has the fields of that kind.
export const isThreadMessage = (message: Message): message is ThreadMessage & Message =>
  message[0] >= 0 && message[0] <= ToThread.taken;
export const isHostMessage = (message: Message): message is HostMessage & Message =>
  message[0] >= 0 && message[0] <= ToHost.streaming;
