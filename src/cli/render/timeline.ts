// Timeline: an execution's events, a line each.

import { envelopesOf } from "../../kernel/envelope.js";
import { HeddleError } from "../../kernel/errors.js";
import type { ExecutionEvent } from "../../kernel/events.js";
import type { ReadEvent } from "../read-events.js";
import type { Colors } from "../terminal.js";
import type { TurnRequest, TurnRequests } from "../turn-requests.js";
import { jsonLine } from "./json.js";
import { summaryOf } from "./summary.js";
import { columns, cut, padEnd, padStart, printable } from "./text.js";
import { clock, day, span } from "./time.js";
import { requestLines, requestWords } from "./turn-request.js";
import { shortValue, wholeValue } from "./value.js";

export interface TimelineLayout {
  readonly colors: Colors;
  /** Columns a line may take. */
  readonly width: number;
  /** Whether values are shown whole, below their line. */
  readonly full: boolean;
  /** The time offsets count from. */
  readonly startedAt: number;
  /** Columns for sequence numbers. */
  readonly sequenceWidth: number;
  /** Shown instead of what the log holds of them. */
  readonly turns: TurnRequests;
}

const OFFSET_WIDTH = 8;
const TYPE_WIDTH = 19;
const SUMMARY_WIDTH_MIN = 24;
const INDENT = "      ";

/** The name an event goes by outside: a user's own name, where there is one. */
export function typeOf(event: ExecutionEvent): string {
  switch (event.type) {
    case "GATE_EVENT":
    case "DOMAIN_EVENT":
    case "STREAM_DELTA":
    case "EFFECT_EVENT":
      return event.name;
    default:
      return event.type;
  }
}

/** Renders pages of events one after the other; it remembers the day, which has a line of its own. */
export class Timeline {
  readonly #layout: TimelineLayout;
  #day: string | undefined;

  constructor(layout: TimelineLayout) {
    this.#layout = layout;
  }

  lines(events: readonly ReadEvent[]): string[] {
    return events.flatMap((event) =>
      event.kind === "event" ? this.#event(event) : [this.#unreadable(event)],
    );
  }

  #event({ sequence, timestamp, event }: Extract<ReadEvent, { kind: "event" }>): string[] {
    const { colors, width, startedAt, sequenceWidth, full } = this.#layout;
    const lines: string[] = [];
    const today = day(timestamp);
    if (today !== this.#day) lines.push(colors.dim(`${today} UTC`));
    this.#day = today;
    const offset = `+${span(timestamp - startedAt)}`.replace("+-", "-");
    const type = padEnd(printable(typeOf(event)), TYPE_WIDTH);
    const position = padStart(String(sequence), sequenceWidth);
    const time = `${clock(timestamp)}  ${padStart(offset, OFFSET_WIDTH)}`;
    const room = width - columns(`${position}  ${time}  ${type}  `);
    const turn = this.#layout.turns.of(event, sequence);
    const summary = this.#summary(event, turn, Math.max(room, SUMMARY_WIDTH_MIN));
    lines.push(`${position}  ${colors.dim(time)}  ${paintOf(event, colors)(type)}  ${summary}`.trimEnd());
    if (full) lines.push(...(turn ? this.#turn(turn) : this.#values(event)));
    return lines;
  }

  #summary(event: ExecutionEvent, turn: TurnRequest | undefined, width: number): string {
    const { subject, values } = summaryOf(event);
    const words = subject === "" ? [] : [printable(subject)];
    if (!this.#layout.full && turn) {
      words.push(`request ${requestWords(turn, width)}`);
      return cut(words.join("  "), width);
    }
    if (!this.#layout.full) {
      for (const [label, wire] of values) words.push(`${label} ${shortValue(wire, width)}`);
      return cut(words.join("  "), width);
    }
    return words.join("");
  }

  #values(event: ExecutionEvent): string[] {
    const { colors, width } = this.#layout;
    return summaryOf(event).values.flatMap(([label, wire]) => {
      const [first = "", ...rest] = wholeValue(wire, Math.max(width - INDENT.length, SUMMARY_WIDTH_MIN));
      return [`${INDENT}${colors.dim(label)} ${first}`, ...rest.map((line) => `${INDENT}${line}`)];
    });
  }

  /** What is new in it: the turns before have lines of their own. */
  #turn(turn: TurnRequest): string[] {
    const { colors, width } = this.#layout;
    const { first = [], add, base } = turn.ok ? turn.form : { add: [], base: undefined };
    const shown = base === undefined || first.length > 0 ? Infinity : add.length;
    const [size = "", ...messages] = requestLines(turn, {
      width: Math.max(width - INDENT.length, SUMMARY_WIDTH_MIN),
      shown,
      whole: true,
    });
    return [`${INDENT}${colors.dim("request")} ${size}`, ...messages.map((line) => `${INDENT}${line}`)];
  }

  #unreadable(read: Extract<ReadEvent, { kind: "unreadable" }>): string {
    const { colors, sequenceWidth } = this.#layout;
    const words = `${padStart(String(read.sequence), sequenceWidth)}  ${unreadableWords(read)}`;
    return colors.red(words);
  }
}

/** What is wrong, and with which events. */
export function unreadableWords(read: Extract<ReadEvent, { kind: "unreadable" }>): string {
  const { sequence, lastSequence, error } = read;
  const which =
    lastSequence === undefined
      ? `from ${sequence} on`
      : lastSequence === sequence
        ? String(sequence)
        : `${sequence} to ${lastSequence}`;
  return printable(`UNREADABLE ${which}: ${error.message}`);
}

/** The envelope of an event as one line of JSON, with the request of the turn that it begins. */
export function eventJson(executionId: string, read: ReadEvent, turn?: TurnRequest): string {
  if (read.kind === "unreadable") return unreadableJson(executionId, read);
  const { sequence, timestamp, event } = read;
  try {
    const [envelope] = envelopesOf(executionId, { sequence, timestamp, events: [event] });
    return jsonLine(turn?.ok ? { ...envelope, request: turn.request } : envelope);
  } catch (error) {
    if (!(error instanceof HeddleError)) throw error;
    return unreadableJson(executionId, { sequence, lastSequence: sequence, error });
  }
}

function unreadableJson(
  executionId: string,
  { sequence, lastSequence, error }: Omit<Extract<ReadEvent, { kind: "unreadable" }>, "kind">,
): string {
  const last = lastSequence !== undefined && { lastSequence };
  return jsonLine({ executionId, sequence, ...last, unreadable: error.message });
}

function paintOf({ type }: ExecutionEvent, colors: Colors): (text: string) => string {
  switch (type) {
    case "EXECUTION_COMPLETED":
    case "STEP_COMPLETED":
      return colors.green;
    case "EXECUTION_FAILED":
    case "STEP_FAILED":
    case "DECISION_FAILED":
      return colors.red;
    case "EXECUTION_CANCELLED":
    case "CANCEL_REQUESTED":
    case "OUTCOME_LATE":
    case "GATE_TIMED_OUT":
    case "STEP_RETRIED":
    case "EFFECT_INDOUBT":
    case "QUOTA_EXCEEDED":
      return colors.yellow;
    case "EXECUTION_SUSPENDED":
    case "EXECUTION_RESUMED":
    case "TIMER_FIRED":
    case "GATE_EVENT":
      return colors.magenta;
    case "DOMAIN_EVENT":
    case "EFFECT_EVENT":
    case "STREAM_DELTA":
      return colors.cyan;
    default:
      return (text) => text;
  }
}
