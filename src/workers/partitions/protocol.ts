// Protocol: what the host and a partition thread say to each other, one union a direction. A request carries a number, and
// its answer the same number.

import type { Wire } from "../../kernel/codec/index.js";
import { type Message, unpackPacket } from "../packets/index.js";

export const ToThread = {
  start: 0,
  resume: 1,
  cancel: 2,
  watch: 3,
  result: 4,
  follow: 5,
  unfollow: 6,
  heard: 7,
  taken: 8,
  verdict: 9,
  admitted: 10,
} as const;

export type StartMessage = readonly [
  kind: typeof ToThread.start,
  request: number,
  executionId: string,
  /** The id was just made. */
  fresh: boolean,
  flowId: string,
  flowVersion: string,
  input: Wire,
  principal: Wire,
  deadlineMs: number | undefined,
];

export type ResumeMessage = readonly [
  kind: typeof ToThread.resume,
  request: number,
  executionId: string,
  eventType: string,
  payload: Wire,
  gateId: string | undefined,
  correlationKey: string | undefined,
  requestId: string | undefined,
];

export type CancelMessage = readonly [
  kind: typeof ToThread.cancel,
  request: number,
  executionId: string,
  reason: string,
  force: boolean,
];

export type VerdictMessage = readonly [
  kind: typeof ToThread.verdict,
  request: number,
  executionId: string,
  stepId: string,
  verdict: "outcome" | "fail" | "retry",
  /** The output, or the error. */
  value: Wire,
];

/** Asks to be told when the execution gets somewhere. Nothing changes by it, so it may be asked again. */
export type WatchMessage = readonly [
  kind: typeof ToThread.watch,
  request: number,
  executionId: string,
  awaited: "suspended" | "ended" | "settled",
];

export type ResultMessage = readonly [kind: typeof ToThread.result, request: number, executionId: string];

export type ThreadMessage =
  | StartMessage
  | ResumeMessage
  | CancelMessage
  | VerdictMessage
  | WatchMessage
  | ResultMessage
  /** Somebody here subscribes to the execution; told by `durable`. */
  | readonly [kind: typeof ToThread.follow, executionId: string]
  | readonly [kind: typeof ToThread.unfollow, executionId: string]
  /** The last `durable` of the execution was heard; the next one may come. */
  | readonly [kind: typeof ToThread.heard, executionId: string]
  /** Packets of so many bytes with events for the host's hooks went through the hooks. */
  | readonly [kind: typeof ToThread.taken, bytes: number]
  /** The answer to `admit`: a Refusal, or nothing. */
  | readonly [kind: typeof ToThread.admitted, request: number, refusal: Wire];

export const ToHost = {
  done: 0,
  failed: 1,
  output: 2,
  reached: 3,
  durable: 4,
  event: 5,
  warning: 6,
  storageError: 7,
  totals: 8,
  admit: 9,
  begun: 10,
  takenBack: 11,
  reported: 12,
  settled: 13,
} as const;

/** Which of the host's hooks an event is for. */
export const Hook = { onEvent: 0, onDurableEvent: 1 } as const;
export type Hook = (typeof Hook)[keyof typeof Hook];

export type HostMessage =
  | readonly [kind: typeof ToHost.done, request: number]
  | readonly [kind: typeof ToHost.failed, request: number, failure: Wire]
  | readonly [kind: typeof ToHost.output, request: number, output: Wire]
  /** A watched execution got there with the event of this sequence. Its state is in the log. */
  | readonly [kind: typeof ToHost.reached, request: number, sequence: number]
  /** The execution is durable up to this sequence; at first, right after `follow`, up to what the log holds. */
  | readonly [kind: typeof ToHost.durable, executionId: string, sequence: number]
  /** `record` is what `recordToWire` makes of one. */
  | readonly [kind: typeof ToHost.event, hook: Hook, executionId: string, sequence: number, record: Wire]
  | readonly [kind: typeof ToHost.warning, message: string]
  | readonly [kind: typeof ToHost.storageError, executionId: string, failure: Wire]
  | BudgetMessage;

/** Whose calls it is about. */
type Spending = readonly [partition: number, flowId: string, tenant: string | undefined];

/** What budgets that hold for all threads together have to know. Times are milliseconds since the epoch. */
export type BudgetMessage =
  /** What the log of a partition holds: MeterRows. */
  | readonly [kind: typeof ToHost.totals, partition: number, rows: Wire]
  /** May a call begin? It counts when it may; answered by `admitted`. */
  | readonly [kind: typeof ToHost.admit, request: number, ...Spending, at: number]
  /** A call counts that nobody has asked for. */
  | readonly [kind: typeof ToHost.begun, ...Spending, at: number]
  | readonly [kind: typeof ToHost.takenBack, ...Spending, startedAt: number]
  | readonly [kind: typeof ToHost.reported, ...Spending, tokens: number, cost: number]
  | readonly [
      kind: typeof ToHost.settled,
      ...Spending,
      at: number,
      tokens: number,
      cost: number,
      wallMs: number | undefined,
      startedAt: number | undefined,
    ];

// Both ends are of one build (PACKET_FORMAT), so a message of a known kind has the fields of that kind.
const isThreadMessage = (message: Message): message is ThreadMessage & Message =>
  message[0] >= 0 && message[0] <= ToThread.admitted;
const isHostMessage = (message: Message): message is HostMessage & Message =>
  message[0] >= 0 && message[0] <= ToHost.settled;

export function unpackForThread(packet: unknown): readonly ThreadMessage[] {
  return unpackPacket(packet).filter(isThreadMessage);
}

export function unpackForHost(packet: unknown): readonly HostMessage[] {
  return unpackPacket(packet).filter(isHostMessage);
}
