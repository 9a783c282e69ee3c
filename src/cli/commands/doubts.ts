// heddle doubts: the steps that wait for a verdict, newest execution first.

import { fromWire } from "../../kernel/codec/index.js";
import type { FiledStatus } from "../../kernel/status.js";
import type { ExecutionPlace, LogInspector } from "../../kernel/store/lmdb/log-inspector.js";
import { type Doubt, readDoubts } from "../doubts.js";
import type { ExitCode } from "../failure.js";
import { newestFirst } from "../newest-first.js";
import { openLog } from "../open-log.js";
import { doubtsTable } from "../render/doubts.js";
import { jsonLine } from "../render/json.js";
import { printable } from "../render/text.js";
import { unreadableWords } from "../render/timeline.js";
import type { Terminal } from "../terminal.js";

export interface DoubtsOptions {
  readonly db: string;
  readonly flow?: string;
  readonly limit: number;
  readonly json?: boolean;
}

/** Whatever has not ended may hold a doubt: beside one, other steps go on. */
const OPEN: readonly FiledStatus[] = ["running", "suspended", "setAside"];

export async function doubts(terminal: Terminal, options: DoubtsOptions): Promise<ExitCode> {
  const { db, limit, json = false } = options;
  const log = openLog(db);
  const found: Doubt[] = [];
  let hasMore = false;
  let hasUnreadable = false;
  for await (const place of placesOf(log, options, terminal.signal)) {
    const read = await readDoubts(log, place, terminal.signal);
    if (read.unreadable) {
      hasUnreadable = true;
      terminal.note(terminal.colors.red(`${printable(place.id)}: ${unreadableWords(read.unreadable)}`));
    }
    const room = limit - found.length;
    hasMore = read.doubts.length > room;
    const shown = read.doubts.slice(0, room);
    found.push(...shown);
    if (json) await terminal.print(shown.map(doubtJson));
    if (hasMore) break;
  }
  if (!json && found.length > 0) {
    const { colors, width } = terminal;
    await terminal.print(doubtsTable(found, { colors, width, now: Date.now() }));
    terminal.note(
      `Look into the world, then: heddle resolve --db ${printable(db)} ID STEP --outcome JSON | --fail MESSAGE | --retry`,
    );
  }
  if (found.length === 0 && !hasUnreadable) terminal.note("Nothing is in doubt.");
  if (hasMore && !json) terminal.note(`Only ${limit} of them. More: --limit N`);
  return hasUnreadable ? 1 : 0;
}

async function* placesOf(
  log: LogInspector,
  { flow }: DoubtsOptions,
  signal: AbortSignal,
): AsyncGenerator<ExecutionPlace> {
  for await (const { row, partition } of newestFirst(log, { statuses: OPEN })) {
    if (signal.aborted) return;
    if (row.kind === "unreadable") {
      const id = log.idOf(partition, row.key);
      if (id !== undefined) yield { id, partition, key: row.key };
    } else if (flow === undefined || row.header.flowId === flow)
      yield { id: row.header.id, partition, key: row.key };
  }
}

function doubtJson({ input, error, ...doubt }: Doubt): string {
  return jsonLine({
    ...doubt,
    input: fromWire(input),
    ...(error !== undefined && { error: fromWire(error) }),
  });
}
