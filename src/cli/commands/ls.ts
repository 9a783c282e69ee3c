// heddle ls: the executions of a log, newest first.

import type { FiledStatus } from "../../kernel/status.js";
import type { LogInspector } from "../../kernel/store/lmdb/log-inspector.js";
import type { ExecutionHeader } from "../../kernel/store/spi.js";
import type { ExitCode } from "../failure.js";
import { findExecution } from "../find-execution.js";
import { type ListedExecution, newestFirst } from "../newest-first.js";
import { openLog } from "../open-log.js";
import { type ExecutionRow, executionJson, executionsTable } from "../render/executions.js";
import { printable } from "../render/text.js";
import type { Terminal } from "../terminal.js";

export interface LsOptions {
  readonly db: string;
  readonly status?: readonly FiledStatus[];
  readonly flow?: string;
  readonly limit: number;
  readonly after?: string;
  readonly json?: boolean;
}

export async function ls(terminal: Terminal, options: LsOptions): Promise<ExitCode> {
  const { db, limit, json = false } = options;
  const log = openLog(db);
  const { found, unreadable, hasMore } = await take(log, options, terminal.signal);
  const rows = found.map(({ header, partition }) => positioned(log, header, partition));
  if (json) await terminal.print(rows.map(executionJson));
  else if (rows.length > 0) {
    const { colors, width } = terminal;
    await terminal.print(executionsTable(rows, { colors, width, now: Date.now() }));
  }
  for (const words of unreadable) terminal.note(terminal.colors.red(words));
  if (rows.length === 0 && unreadable.length === 0) terminal.note("No executions.");
  const last = found.at(-1);
  if (hasMore && last && !json) {
    terminal.note(`Only the newest ${limit}. The next ones: add --after ${printable(last.header.id)}`);
  }
  return unreadable.length === 0 ? 0 : 1;
}

interface Found {
  readonly header: ExecutionHeader;
  readonly partition: number;
}

async function take(log: LogInspector, { status, flow, limit, after }: LsOptions, signal: AbortSignal) {
  const found: Found[] = [];
  const unreadable: string[] = [];
  const options = { statuses: status, after: after === undefined ? undefined : await listed(log, after) };
  for await (const { row, partition } of newestFirst(log, options)) {
    if (signal.aborted) break;
    if (row.kind === "unreadable") {
      const id = log.idOf(partition, row.key) ?? `number ${row.key} of partition ${partition}`;
      unreadable.push(printable(`UNREADABLE header of ${id}: ${row.error.message}`));
    } else if (flow === undefined || row.header.flowId === flow) {
      if (found.length === limit) return { found, unreadable, hasMore: true };
      found.push({ header: row.header, partition });
    }
  }
  return { found, unreadable, hasMore: false };
}

async function listed(log: LogInspector, id: string): Promise<ListedExecution | undefined> {
  const place = await findExecution(log, id);
  const row = log.header(place);
  return row && { partition: place.partition, row };
}

/** A header is written when the status changes; the end of the log says how far the execution is now. */
function positioned(log: LogInspector, header: ExecutionHeader, partition: number): ExecutionRow {
  const last = log.lastRecord({ id: header.id, partition, key: header.key });
  if (!last) return { header, sequence: header.sequence, updatedAt: header.updatedAt };
  if (last.kind === "unreadable") return { header, sequence: last.sequence, updatedAt: header.updatedAt };
  const { sequence, events, timestamp } = last.record;
  return { header, sequence: sequence + events.length - 1, updatedAt: Math.max(timestamp, header.updatedAt) };
}
