// State: an execution folded at one point of its log, on a screen.

import type { Wire } from "../../kernel/codec/index.js";
import type { ExecutionEvent } from "../../kernel/events.js";
import type { FoldedFrame, FoldedGate, FoldedLate, FoldedState } from "../../kernel/state.js";
import type { Colors } from "../terminal.js";
import type { TurnRequest } from "../turn-requests.js";
import { statusPaint } from "./status.js";
import { summaryOf } from "./summary.js";
import { type Column, table } from "./table.js";
import { cut, printable } from "./text.js";
import { moment, span } from "./time.js";
import { typeOf } from "./timeline.js";
import { requestLines } from "./turn-request.js";
import { shortValue, wholeValue } from "./value.js";

export interface StateView {
  readonly executionId: string;
  readonly state: FoldedState;
  /** The event at the point of the fold. */
  readonly event: ExecutionEvent;
  readonly lastSequence: number;
  /** The request of the turn that the event is about. */
  readonly turn?: TurnRequest | undefined;
}

export interface StateLayout {
  readonly colors: Colors;
  readonly width: number;
  /** Whether every entry is listed and every value shown whole. */
  readonly full: boolean;
}

const ENTRIES_SHOWN = 50;
const MESSAGES_SHOWN = 20;
const LABEL_WIDTH = 10;
const NAME_WIDTH_MIN = 12;
const RESULT_CHARS_MAX = 200;

export function stateLines(view: StateView, layout: StateLayout): string[] {
  const { state } = view;
  return [
    ...headLines(view, layout),
    ...turnLines(view, layout),
    ...section("Steps", Object.values(state.frames), layout, frameColumns, ({ stepId, ...frame }) => [
      [`${stepId} input`, frame.input],
      [`${stepId} ${resultLabel(frame.status)}`, resultOf(frame)],
    ]),
    ...section("Gates", Object.values(state.gates), layout, gateColumns, ({ gateId, payload }) => {
      return payload === undefined ? [] : [[`${gateId} payload`, payload]];
    }),
    ...section("Decisions", Object.entries(state.decisions), layout, decisionColumns, ([id, choice]) => [
      [id, choice],
    ]),
  ];
}

function headLines({ executionId, state, event, lastSequence }: StateView, layout: StateLayout): string[] {
  const { colors, width } = layout;
  const label = (name: string): string => colors.dim(name.padEnd(LABEL_WIDTH));
  const where =
    state.sequence === lastSequence
      ? `sequence ${state.sequence}, the last`
      : `sequence ${state.sequence} of ${lastSequence}`;
  const said = [typeOf(event), summaryOf(event).subject].filter((words) => words !== "").join("  ");
  const lines = [
    `${colors.bold(printable(executionId))}  ${printable(`${state.flowId}@${state.flowVersion}`)}`,
    `${label("status")}${statusPaint(state.status, colors)(state.status)} at ${where}`,
    `${label("event")}${cut(printable(said), Math.max(width - LABEL_WIDTH, NAME_WIDTH_MIN))}`,
    `${label("started")}${moment(state.startedAt)} UTC`,
    `${label("reached")}${moment(state.updatedAt)} UTC, after ${span(state.updatedAt - state.startedAt)}`,
  ];
  if (state.reason !== undefined) lines.push(`${label("reason")}${printable(state.reason)}`);
  const values: [string, Wire][] = [["input", state.input]];
  if (state.status === "completed") values.push(["output", state.output]);
  if (state.status === "failed") values.push(["error", state.error]);
  for (const [name, wire] of values) {
    const [first = "", ...rest] = valueLines(wire, width - LABEL_WIDTH, layout);
    lines.push(`${label(name)}${first}`, ...rest.map((line) => " ".repeat(LABEL_WIDTH) + line));
  }
  return lines;
}

function turnLines({ turn }: StateView, { colors, width, full }: StateLayout): string[] {
  if (!turn) return [];
  const shown = full ? Infinity : MESSAGES_SHOWN;
  return [
    "",
    colors.bold(printable(`Request of ${turn.stepId}`)),
    ...requestLines(turn, { width, shown, whole: full }),
  ];
}

/** A table of the newest entries; with `full`, of all of them, and their values below. */
function section<T>(
  title: string,
  entries: readonly T[],
  layout: StateLayout,
  columnsOf: (entries: readonly T[], layout: StateLayout) => Column[],
  valuesOf: (entry: T) => readonly (readonly [label: string, wire: Wire])[],
): string[] {
  if (entries.length === 0) return [];
  const { colors, width, full } = layout;
  const shown = full ? entries : entries.slice(-ENTRIES_SHOWN);
  const lines = ["", colors.bold(`${title} (${entries.length})`)];
  const hidden = entries.length - shown.length;
  if (hidden > 0)
    lines.push(colors.dim(`the last ${shown.length}; --full shows the ${hidden} before them too`));
  lines.push(...table(columnsOf(shown, layout), width, colors));
  if (!full) return lines;
  for (const [label, wire] of shown.flatMap(valuesOf)) {
    lines.push("", colors.dim(printable(label)), ...wholeValue(wire, width));
  }
  return lines;
}

function frameColumns(frames: readonly FoldedFrame[], { colors }: StateLayout): Column[] {
  const paints = {
    started: colors.cyan,
    inDoubt: colors.yellow,
    completed: colors.green,
    failed: colors.red,
    cancelled: colors.yellow,
  };
  return [
    names(
      "STEP",
      frames.map(({ stepId }) => stepId),
    ),
    {
      title: "STATUS",
      cells: frames.map(({ status }) => status),
      paint: (text, row) => paints[frames[row]!.status](text),
    },
    { title: "TRIES", cells: frames.map(({ attempts }) => String(attempts)), align: "right" },
    {
      title: "TOOK",
      cells: frames.map(({ startedAt, endedAt }) =>
        endedAt === undefined ? "-" : span(endedAt - startedAt),
      ),
      align: "right",
    },
    {
      title: "RESULT",
      cells: frames.map((frame) => [...resultWords(frame), ...(frame.late ?? []).map(lateWords)].join(", ")),
      least: NAME_WIDTH_MIN,
    },
  ];
}

function resultWords(frame: FoldedFrame): string[] {
  if (frame.status !== "completed" && frame.status !== "failed") return [];
  const words = shortValue(resultOf(frame), RESULT_CHARS_MAX);
  return [frame.channel === undefined ? words : `${printable(frame.channel)} ${words}`];
}

function lateWords({ attempt, kind }: FoldedLate): string {
  return `attempt ${attempt} ${kind} late`;
}

function gateColumns(gates: readonly FoldedGate[]): Column[] {
  return [
    names(
      "GATE",
      gates.map(({ gateId }) => gateId),
    ),
    { title: "STATUS", cells: gates.map(({ status }) => (status === "timedOut" ? "timed out" : status)) },
    names("WAITS FOR", gates.map(gateWords)),
    {
      title: "PAYLOAD",
      cells: gates.map(({ payload, status, kind }) => {
        return status === "resolved" && kind === "event" ? shortValue(payload, RESULT_CHARS_MAX) : "";
      }),
      least: NAME_WIDTH_MIN,
    },
  ];
}

function gateWords({ kind, on, wakeAt, correlationKey }: FoldedGate): string {
  const until = wakeAt === undefined ? "" : moment(wakeAt);
  if (kind === "sleep") return `the time, ${until}`;
  const key = correlationKey === undefined ? "" : ` [${correlationKey}]`;
  return `${on}${key}${until === "" ? "" : ` until ${until}`}`;
}

function decisionColumns(decisions: readonly (readonly [string, Wire])[]): Column[] {
  return [
    names(
      "DECISION",
      decisions.map(([id]) => id),
    ),
    {
      title: "CHOICE",
      cells: decisions.map(([, choice]) => shortValue(choice, RESULT_CHARS_MAX)),
      least: NAME_WIDTH_MIN,
    },
  ];
}

function names(title: string, cells: readonly string[]): Column {
  return { title, cells: cells.map(printable), least: NAME_WIDTH_MIN };
}

function valueLines(wire: Wire, width: number, { full }: StateLayout): string[] {
  const room = Math.max(width, NAME_WIDTH_MIN);
  return full ? wholeValue(wire, room) : [shortValue(wire, room)];
}

function resultOf({ status, channel, output, error, payload }: Omit<FoldedFrame, "stepId">): Wire {
  if (status === "completed") return output;
  return channel === undefined ? error : payload;
}

function resultLabel(status: FoldedFrame["status"]): string {
  return status === "completed" ? "output" : "error";
}
