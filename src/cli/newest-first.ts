// The executions of a log, newest first over all its partitions.
//
// A partition lists its own in order of starting; partitions are merged by the time of starting. Pages are read as they
// are needed, one turn each, so a long list is never held in memory and no view of it is kept open.

import { setImmediate as nextTurn } from "node:timers/promises";
import { FILED_STATUSES, type FiledStatus } from "../kernel/status.js";
import type { LogInspector, StoredHeader } from "../kernel/store/lmdb/log-inspector.js";

export interface ListedExecution {
  readonly partition: number;
  readonly row: StoredHeader;
}

export interface ListOptions {
  readonly statuses?: readonly FiledStatus[] | undefined;
  /** Only those that come after this one. */
  readonly after?: ListedExecution | undefined;
}

const PAGE = 256;

export async function* newestFirst(
  log: LogInspector,
  { statuses = FILED_STATUSES, after }: ListOptions = {},
): AsyncGenerator<ListedExecution> {
  const lists: PartitionList[] = [];
  for (let partition = 0; partition < log.partitions; partition++) {
    const before = after?.partition === partition ? after.row.key : Infinity;
    const list = new PartitionList(log, partition, statuses, before);
    await list.fill();
    lists.push(list);
  }
  for (;;) {
    let newest: PartitionList | undefined;
    for (const list of lists) {
      if (list.head && (!newest || isNewer(list.listed(), newest.listed()))) newest = list;
    }
    if (!newest) return;
    const listed = newest.listed();
    if (!after || isNewer(after, listed)) yield listed;
    await newest.advance();
  }
}

class PartitionList {
  readonly partition: number;
  readonly #log: LogInspector;
  readonly #statuses: readonly FiledStatus[];
  #before: number;
  #page: readonly StoredHeader[] = [];
  #at = 0;

  constructor(log: LogInspector, partition: number, statuses: readonly FiledStatus[], before: number) {
    this.#log = log;
    this.partition = partition;
    this.#statuses = statuses;
    this.#before = before;
  }

  get head(): StoredHeader | undefined {
    return this.#page[this.#at];
  }

  listed(): ListedExecution {
    return { partition: this.partition, row: this.head! };
  }

  async advance(): Promise<void> {
    this.#at++;
    if (this.#at < this.#page.length) return;
    await nextTurn();
    await this.fill();
  }

  async fill(): Promise<void> {
    this.#page = this.#log.headers(this.partition, this.#statuses, this.#before, PAGE);
    this.#at = 0;
    this.#before = this.#page.at(-1)?.key ?? 0;
  }
}

/** A row that cannot be read has no time: it counts as the newest of its partition's rest, which it is. */
function isNewer(a: ListedExecution, b: ListedExecution): boolean {
  if (a.partition === b.partition) return a.row.key > b.row.key;
  return startOf(a) > startOf(b) || (startOf(a) === startOf(b) && a.partition < b.partition);
}

function startOf({ row }: ListedExecution): number {
  return row.kind === "header" ? row.header.createdAt : Infinity;
}
