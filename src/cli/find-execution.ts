// Finding an execution by what somebody typed: its id, the beginning of its id when only one begins so, or an id so
// near that it is worth asking about.

import { distance } from "fastest-levenshtein";
import type { ExecutionPlace, LogInspector } from "../kernel/store/lmdb/log-inspector.js";
import { CommandFailure } from "./failure.js";
import { newestFirst } from "./newest-first.js";

const NAMED_MAX = 5;
/** What a misspelt id is compared with: so many of the newest ids, and so many of those that begin alike. */
const NEWEST_MAX = 5_000;
const ALIKE_MAX = 100_000;
const BEGINNING_CHARS = 3;

/** Throws EXECUTION_UNKNOWN, naming ids that are near. */
export async function findExecution(log: LogInspector, typed: string): Promise<ExecutionPlace> {
  const exact = log.find(typed);
  if (exact) return exact;
  const beginning = log.idsFrom(typed, NAMED_MAX + 1).sort();
  const [only, ...others] = beginning;
  const place = only !== undefined && others.length === 0 ? log.find(only) : undefined;
  if (place) return place;
  if (beginning.length > 0) {
    throw unknown([`Several executions have an id that begins with ${typed}:`, ...listed(beginning)]);
  }
  const near = nearest(typed, await idsToCompare(log, typed));
  if (near.length > 0) throw unknown([`No execution has the id ${typed}. Did you mean`, ...listed(near)]);
  throw unknown([
    `No execution has the id ${typed}.`,
    `heddle ls --db ${log.directory} lists those there are.`,
  ]);
}

async function idsToCompare(log: LogInspector, typed: string): Promise<ReadonlySet<string>> {
  const ids = new Set(log.idsFrom(typed.slice(0, BEGINNING_CHARS), ALIKE_MAX));
  let compared = 0;
  for await (const { row } of newestFirst(log)) {
    if (row.kind === "header") ids.add(row.header.id);
    if (++compared === NEWEST_MAX) break;
  }
  return ids;
}

/** The ids at most a third of their letters away, and nearly as near as the nearest one. */
export function nearest(typed: string, ids: Iterable<string>): string[] {
  const limit = Math.max(1, Math.floor(typed.length / 3));
  const near: { id: string; away: number }[] = [];
  for (const id of ids) {
    if (Math.abs(id.length - typed.length) > limit) continue;
    const away = distance(typed.toLowerCase(), id.toLowerCase());
    if (away <= limit) near.push({ id, away });
  }
  near.sort((a, b) => a.away - b.away || (a.id < b.id ? -1 : 1));
  const [best] = near;
  return near
    .filter(({ away }) => away <= best!.away + 1)
    .slice(0, NAMED_MAX)
    .map(({ id }) => id);
}

function listed(ids: readonly string[]): string[] {
  const lines = ids.slice(0, NAMED_MAX).map((id) => `  ${id}`);
  return ids.length > NAMED_MAX ? [...lines, "  and more"] : lines;
}

function unknown(lines: readonly string[]): CommandFailure {
  return new CommandFailure(1, lines.join("\n"), "EXECUTION_UNKNOWN");
}
