// heddle debug: the state of one execution, folded at one point of its log.

import type { ExecutionEvent } from "../../kernel/events.js";
import { fold } from "../../kernel/fold.js";
import { type FoldedState, initialState, revealState } from "../../kernel/state.js";
import type { ExecutionPlace, LogInspector } from "../../kernel/store/lmdb/log-inspector.js";
import { CommandFailure, type ExitCode } from "../failure.js";
import { findExecution } from "../find-execution.js";
import { openLog } from "../open-log.js";
import { endOf, type ReadEvent, readEvents } from "../read-events.js";
import { jsonLine } from "../render/json.js";
import { type StateView, stateLines } from "../render/state.js";
import { printable } from "../render/text.js";
import { unreadableWords } from "../render/timeline.js";
import type { Terminal } from "../terminal.js";
import { type TurnRequest, TurnRequests } from "../turn-requests.js";

export interface DebugOptions {
  readonly db: string;
  readonly at?: number;
  readonly full?: boolean;
  readonly json?: boolean;
}

const WIDTH_DEFAULT = 160;

export async function debug(terminal: Terminal, id: string, options: DebugOptions): Promise<ExitCode> {
  const { at, full = false, json = false } = options;
  const log = openLog(options.db);
  const place = await findExecution(log, id);
  const lastSequence = endOf(log, place);
  if (at !== undefined && at > lastSequence) throw outOfRange(place, at, lastSequence);
  const { state, event, unreadable } = await folded(log, place, at ?? lastSequence, terminal.signal);
  if (terminal.signal.aborted) return 1;
  if (event) {
    const layout = { colors: terminal.colors, width: terminal.width ?? WIDTH_DEFAULT, full };
    const turn = turnOf(event, state, new TurnRequests(log, place));
    const view = { executionId: place.id, state, event, lastSequence, turn };
    await terminal.print(json ? [jsonOf(view)] : stateLines(view, layout));
  }
  if (!unreadable) return 0;
  const reached = event ? `This is the state at ${state.sequence}; what` : "What";
  terminal.note(terminal.colors.red(unreadableWords(unreadable)));
  terminal.note(`${reached} follows cannot be folded without it.`);
  return 1;
}

/** Of the step that the event is about, if that is a turn of an agent. */
function turnOf(event: ExecutionEvent, state: FoldedState, turns: TurnRequests): TurnRequest | undefined {
  const { stepId } = event as { readonly stepId?: string };
  const frame = stepId === undefined ? undefined : state.frames[stepId];
  return frame && turns.at(frame.stepId, frame.input, state.sequence);
}

function jsonOf({ executionId, state, turn }: StateView): string {
  const shown = revealState(executionId, state);
  return jsonLine(turn?.ok ? { ...shown, turn: { stepId: turn.stepId, request: turn.request } } : shown);
}

interface Folded {
  readonly state: FoldedState;
  /** The last event folded. */
  readonly event: ExecutionEvent | undefined;
  /** What stopped the fold: a state with a gap in its past would be a guess. */
  readonly unreadable: Extract<ReadEvent, { kind: "unreadable" }> | undefined;
}

async function folded(
  log: LogInspector,
  place: ExecutionPlace,
  at: number,
  signal: AbortSignal,
): Promise<Folded> {
  let state = initialState();
  let event: ExecutionEvent | undefined;
  for await (const events of readEvents(log, place, { to: at, signal })) {
    for (const read of events) {
      if (read.kind === "unreadable") return { state, event, unreadable: read };
      const { sequence, timestamp } = read;
      event = read.event;
      state = fold([{ sequence, timestamp, events: [event] }], state);
    }
  }
  return { state, event, unreadable: undefined };
}

function outOfRange({ id }: ExecutionPlace, at: number, lastSequence: number): CommandFailure {
  const range = lastSequence < 0 ? "it has no events" : `its events have the sequences 0 to ${lastSequence}`;
  return new CommandFailure(1, `--at ${at} is beyond the end of ${printable(id)}: ${range}.`);
}
