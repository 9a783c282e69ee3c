// The events of one execution, page by page, as far as they can be read; to the end, or on and on behind a running
// process.
//
// R1  An event that cannot be read takes its own place and hides no other. A record that cannot be decoded hides the
//     events in it: how many that are shows when the next record begins.
// R2  Following asks the log where it ends, again and again with a pause between: a reader beside the owner is told
//     nothing. It asks by position, so nothing is shown twice and nothing is missed.

import { setTimeout as delay } from "node:timers/promises";
import { HeddleError } from "../kernel/errors.js";
import { checkEvent, type ExecutionEvent, isEnding } from "../kernel/events.js";
import type { ExecutionPlace, LogInspector, StoredRecord } from "../kernel/store/lmdb/log-inspector.js";

export type ReadEvent =
  | {
      readonly kind: "event";
      readonly sequence: number;
      readonly timestamp: number;
      readonly event: ExecutionEvent;
    }
  | {
      readonly kind: "unreadable";
      readonly sequence: number;
      /** Of the last event that is hidden; `undefined` when nothing follows that would tell. */
      readonly lastSequence: number | undefined;
      readonly error: HeddleError;
    };

export interface ReadOptions {
  readonly from?: number | undefined;
  /** Inclusive. */
  readonly to?: number | undefined;
  /** Stay at the end and wait for more, until the execution has ended. An empty page is a pause. */
  readonly follow?: boolean | undefined;
  readonly signal: AbortSignal;
}

const RECORDS_PER_PAGE = 256;
const PAUSE_MS = 200;

export async function* readEvents(
  log: LogInspector,
  place: ExecutionPlace,
  { from = 0, to = Infinity, follow = false, signal }: ReadOptions,
): AsyncGenerator<readonly ReadEvent[]> {
  // When following from beyond the end, the record that will hold `from` may begin before it.
  let start = from === 0 ? 0 : log.beginning(place, from);
  let ended = false;
  while (!signal.aborted) {
    const records = log.records(place, start, RECORDS_PER_PAGE);
    const events = records.flatMap((record, index) => eventsOf(record, records[index + 1]));
    const wanted = events.filter((event) => reaches(event) >= from && event.sequence <= to);
    if (wanted.length > 0 || follow) yield wanted;
    ended ||= events.some((read) => read.kind === "event" && isEnding(read.event));
    const last = records.at(-1);
    if (last) start = last.sequence + 1;
    const isPast = start > to || (events.at(-1)?.sequence ?? -1) >= to;
    if (isPast || (records.length < RECORDS_PER_PAGE && (ended || !follow))) return;
    await pause(records.length < RECORDS_PER_PAGE ? PAUSE_MS : 0, signal);
  }
}

/** The sequence of the last event, as far as that can be told; -1 when there is none. */
export function endOf(log: LogInspector, place: ExecutionPlace): number {
  const last = log.lastRecord(place);
  if (!last) return -1;
  return last.kind === "record" ? last.sequence + last.record.events.length - 1 : last.sequence;
}

function eventsOf(stored: StoredRecord, next: StoredRecord | undefined): ReadEvent[] {
  if (stored.kind === "unreadable") {
    const lastSequence = next && next.sequence - 1;
    return [{ kind: "unreadable", sequence: stored.sequence, lastSequence, error: stored.error }];
  }
  const { timestamp, events } = stored.record;
  return events.map((event, index) => checked(stored.sequence + index, timestamp, event));
}

function checked(sequence: number, timestamp: number, event: ExecutionEvent): ReadEvent {
  try {
    checkEvent(event);
    return { kind: "event", sequence, timestamp, event };
  } catch (error) {
    if (!(error instanceof HeddleError)) throw error;
    return { kind: "unreadable", sequence, lastSequence: sequence, error };
  }
}

function reaches(event: ReadEvent): number {
  return event.kind === "event" ? event.sequence : (event.lastSequence ?? Infinity);
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
