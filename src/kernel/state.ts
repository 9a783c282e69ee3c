// State: what the fold of an execution's log amounts to, in two forms. `FoldedState` holds wires, so it can be packed
// into a snapshot and folded further; `ExecutionState` is what programs get, with every value decoded afresh.

import { fromWire, type Unseal, type Wire } from "./codec/index.js";
import type { Meter, Totals } from "./meter.js";
import { type CancelCode, type ExecutionStatus, isTerminal } from "./status.js";

/** "inDoubt": whether the effect did its work is not known, and it may not be repeated; `resolveInDoubt` decides. */
export type FrameStatus = "started" | "inDoubt" | "completed" | "failed" | "cancelled";
export type GateStatus = "open" | "resolved" | "timedOut" | "cancelled";

/** What an attempt came to when nobody waited for it any more. */
export interface FoldedLate {
  issue: number;
  attempt: number;
  kind: "completed" | "failed";
  error: Wire;
  at: number;
}

/** A step's entry: its last issue under this id, and how that went. */
export interface FoldedFrame {
  stepId: string;
  status: FrameStatus;
  attempts: number;
  input: Wire;
  output: Wire;
  error: Wire;
  channel: string | undefined;
  payload: Wire;
  startedAt: number;
  endedAt: number | undefined;
  shielded: true | undefined;
  deadlineAt: number | undefined;
  late: FoldedLate[] | undefined;
}

/** A suspension: what it waits for and, once closed, who closed it. */
export interface FoldedGate {
  gateId: string;
  kind: "event" | "sleep";
  on: string;
  status: GateStatus;
  wakeAt: number | undefined;
  correlationKey: string | undefined;
  requestId: string | undefined;
  payload: Wire;
  openedAt: number;
  closedAt: number | undefined;
  shielded: true | undefined;
}

export interface FoldedState {
  flowId: string;
  flowVersion: string;
  status: ExecutionStatus;
  /** Sequence of the last folded event; -1 before the first. */
  sequence: number;
  input: Wire;
  output: Wire;
  error: Wire;
  reason: string | undefined;
  code: CancelCode | undefined;
  /** A cancellation that was asked for; the flow may still be cleaning up. */
  cancelling: { reason: string; code: CancelCode | undefined } | undefined;
  deadlineAt: number | undefined;
  frames: Record<string, FoldedFrame>;
  gates: Record<string, FoldedGate>;
  decisions: Record<string, Wire>;
  /** Steps started and not ended, those of them in doubt, gates open: together they say whether the execution is parked. */
  openSteps: number;
  inDoubtSteps: number;
  openGates: number;
  /** What its effects have used, as far as that was metered. */
  usage: Record<Meter, number>;
  startedAt: number;
  updatedAt: number;
}

export function initialState(): FoldedState {
  return {
    flowId: "",
    flowVersion: "",
    status: "running",
    sequence: -1,
    input: undefined,
    output: undefined,
    error: undefined,
    reason: undefined,
    code: undefined,
    cancelling: undefined,
    deadlineAt: undefined,
    frames: {},
    gates: {},
    decisions: {},
    openSteps: 0,
    inDoubtSteps: 0,
    openGates: 0,
    usage: { calls: 0, tokens: 0, cost: 0, wallMs: 0 },
    startedAt: 0,
    updatedAt: 0,
  };
}

export interface Frame {
  readonly stepId: string;
  readonly status: FrameStatus;
  /** How often the effect was started for this issue, at least as far as the log knows. */
  readonly attempts: number;
  readonly input: unknown;
  readonly output?: unknown;
  readonly error?: unknown;
  readonly channel?: string;
  readonly payload?: unknown;
  readonly startedAt: number;
  readonly endedAt?: number;
  /** When the step fails whatever it is at, milliseconds since the epoch. */
  readonly deadlineAt?: number;
  /** Attempts that settled when they did not count any more: after a cancel, a time limit, or the end. */
  readonly late?: readonly LateAttempt[];
}

export interface LateAttempt {
  /** Which issue of the step's id it belonged to, counted from 1: an id that failed may have been issued again since. */
  readonly issue: number;
  readonly attempt: number;
  readonly kind: "completed" | "failed";
  readonly error?: unknown;
  readonly at: number;
}

export interface Gate {
  readonly gateId: string;
  readonly kind: "event" | "sleep";
  readonly on: string;
  readonly status: GateStatus;
  /** When its timeout or its sleep is due, milliseconds since the epoch. */
  readonly wakeAt?: number;
  readonly correlationKey?: string;
  /** The `requestId` of the resume that closed it. */
  readonly requestId?: string;
  readonly payload?: unknown;
  readonly openedAt: number;
  readonly closedAt?: number;
}

/** An execution as its log tells it. A fresh copy: changing it changes nothing. */
export interface ExecutionState {
  readonly executionId: string;
  readonly workflowId: string;
  readonly flowVersion: string;
  readonly status: ExecutionStatus;
  /** Sequence of the last event. */
  readonly sequence: number;
  readonly input: unknown;
  /** `_output` is the flow's result once it completed. */
  readonly variables: Readonly<Record<string, unknown>>;
  readonly frames: Readonly<Record<string, Frame>>;
  readonly gates: Readonly<Record<string, Gate>>;
  readonly decisions: Readonly<Record<string, unknown>>;
  /** What the flow failed with, when `status` is "failed"; when "cancelled", what failed while it cleaned up. */
  readonly error?: unknown;
  /** Why it was cancelled, when `status` is "cancelled". */
  readonly reason?: string;
  /** What its effects have used; absent while nothing of it was metered (docs/quotas.md). */
  readonly usage?: Totals;
  /** Present when it was the runtime that cancelled it: its deadline had passed. */
  readonly code?: CancelCode;
  /** A cancellation was asked for, and the flow is cleaning up. */
  readonly cancelling?: { readonly reason: string; readonly code?: CancelCode };
  /** When it is cancelled unless it has ended, milliseconds since the epoch. */
  readonly deadlineAt?: number;
  readonly startedAt: number;
  readonly updatedAt: number;
}

/** Decodes a folded state for programs. `unseal` opens the output alone, for whoever it was computed for. */
export function revealState(executionId: string, state: FoldedState, unseal?: Unseal): ExecutionState {
  return {
    executionId,
    workflowId: state.flowId,
    flowVersion: state.flowVersion,
    status: state.status,
    sequence: state.sequence,
    input: fromWire(state.input),
    variables: state.status === "completed" ? { _output: fromWire(state.output, unseal) } : {},
    frames: mapValues(state.frames, revealFrame),
    gates: mapValues(state.gates, revealGate),
    decisions: mapValues(state.decisions, (choice) => fromWire(choice)),
    ...(state.status === "failed" && { error: fromWire(state.error) }),
    ...(state.status === "cancelled" && state.error !== undefined && { error: fromWire(state.error) }),
    ...(state.reason !== undefined && { reason: state.reason }),
    ...(state.usage.calls > 0 && { usage: { ...state.usage } }),
    ...(state.code !== undefined && { code: state.code }),
    ...(state.cancelling && !isTerminal(state.status) && { cancelling: revealCancelling(state.cancelling) }),
    ...(state.deadlineAt !== undefined && { deadlineAt: state.deadlineAt }),
    startedAt: state.startedAt,
    updatedAt: state.updatedAt,
  };
}

function revealCancelling({ reason, code }: NonNullable<FoldedState["cancelling"]>) {
  return { reason, ...(code !== undefined && { code }) };
}

function revealFrame(frame: FoldedFrame): Frame {
  return {
    stepId: frame.stepId,
    status: frame.status,
    attempts: frame.attempts,
    input: fromWire(frame.input),
    ...(frame.status === "completed" && { output: fromWire(frame.output) }),
    ...(frame.status === "failed" && frame.channel === undefined && { error: fromWire(frame.error) }),
    ...(frame.channel !== undefined && { channel: frame.channel, payload: fromWire(frame.payload) }),
    startedAt: frame.startedAt,
    ...(frame.endedAt !== undefined && { endedAt: frame.endedAt }),
    ...(frame.deadlineAt !== undefined && { deadlineAt: frame.deadlineAt }),
    ...(frame.late && { late: frame.late.map(revealLate) }),
  };
}

function revealLate({ issue, attempt, kind, error, at }: FoldedLate): LateAttempt {
  return { issue, attempt, kind, ...(kind === "failed" && { error: fromWire(error) }), at };
}

function revealGate(gate: FoldedGate): Gate {
  return {
    gateId: gate.gateId,
    kind: gate.kind,
    on: gate.on,
    status: gate.status,
    ...(gate.wakeAt !== undefined && { wakeAt: gate.wakeAt }),
    ...(gate.correlationKey !== undefined && { correlationKey: gate.correlationKey }),
    ...(gate.requestId !== undefined && { requestId: gate.requestId }),
    ...(gate.status === "resolved" && gate.kind === "event" && { payload: fromWire(gate.payload) }),
    openedAt: gate.openedAt,
    ...(gate.closedAt !== undefined && { closedAt: gate.closedAt }),
  };
}

function mapValues<A, B>(record: Record<string, A>, convert: (value: A) => B): Record<string, B> {
  const converted: Record<string, B> = {};
  for (const name in record) converted[name] = convert(record[name]!);
  return converted;
}
