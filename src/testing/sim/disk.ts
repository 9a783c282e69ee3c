// SimDisk: what outlives processes. A log per partition as a disk and an operating system hold it: some of it flushed, the
// latest batches only written.
//
// Owns       the rows, the batches that are not flushed, the epoch of each partition.
// Leaves     when a write or a flush happens, and what is told to whom, to SimStore.
//
// K1  A batch is written whole or not at all, after all that were written before it.
// K2  A loss of power takes a suffix of what was not flushed, never anything from the middle.
// K3  Only the latest owner of a partition writes to it.
// K4  Opening a partition flushes it, as the write of the new owner's epoch does on a real disk.

import { type EventEnvelope, HeddleError, PartitionLockedError, partitionOf } from "../../kernel/index.js";
import { checkBatch } from "../../kernel/store/batch-check.js";
import { EventReader } from "../../kernel/store/event-reader.js";
import { MemoryRows } from "../../kernel/store/memory/memory-rows.js";
import type { PartitionRows } from "../../kernel/store/rows.js";
import type { CommitBatch } from "../../kernel/store/spi.js";
import { Subscribers } from "../../kernel/store/subscribers.js";
import type { Observer } from "./observation.js";

interface Partition {
  rows: MemoryRows;
  epoch: number;
  owner: string;
  /** Which process that was, counted from 1. */
  generation: number;
  readonly flushed: CommitBatch[];
  unflushed: CommitBatch[];
}

export interface Writer {
  readonly process: string;
  readonly partition: number;
  readonly epoch: number;
}

export class SimDisk {
  readonly partitions: number;
  readonly subscribers = new Subscribers(undefined);
  readonly reader: EventReader;
  readonly #observer: Observer;
  readonly #byNumber: readonly Partition[];

  constructor(partitions: number, observer: Observer) {
    this.partitions = partitions;
    this.#observer = observer;
    this.#byNumber = Array.from({ length: partitions }, () => ({
      rows: new MemoryRows(),
      epoch: 0,
      owner: "",
      generation: 0,
      flushed: [],
      unflushed: [],
    }));
    this.reader = new EventReader(
      partitions,
      (partition, use) => use(this.rows(partition)),
      this.subscribers,
    );
  }

  rows(partition: number): PartitionRows & { readonly nextKey: number } {
    return this.#byNumber[partition]!.rows;
  }

  /** The events of an execution, as far as they are written. */
  events(executionId: string): readonly EventEnvelope[] {
    return this.reader.readSync(executionId);
  }

  /** Every timer there is, due or not. */
  get timers(): readonly { readonly key: number; readonly gateId: string; readonly wakeAt: number }[] {
    return this.#byNumber.flatMap(({ rows }) => rows.timersDue(Number.MAX_VALUE, Infinity));
  }

  /** The partitions that somebody else has taken over from this process are not among those it owns. */
  owns({ partition, epoch }: Pick<Writer, "partition" | "epoch">): boolean {
    return this.#byNumber[partition]!.epoch === epoch;
  }

  isFenced(process: string, executionId: string): boolean {
    return this.#byNumber[partitionOf(executionId, this.partitions)]!.owner !== process;
  }

  /** Takes a partition over, from whoever began before it. (K3) */
  own(process: string, generation: number, partition: number): number {
    const held = this.#byNumber[partition]!;
    if (held.generation > generation)
      throw new PartitionLockedError(`Partition ${partition} in the simulation`, undefined);
    held.generation = generation;
    this.flush(partition); // K4
    held.epoch++;
    held.owner = process;
    this.#observer.see({ kind: "opened", process, partition, epoch: held.epoch });
    return held.epoch;
  }

  /**
   * Makes a batch visible and returns its place among those of its partition, counted from 1. Throws, and leaves nothing
   * behind, when it is refused.
   */
  write(writer: Writer, batch: CommitBatch): number {
    const held = this.#byNumber[writer.partition]!;
    if (!this.owns(writer))
      throw new HeddleError(
        "STORAGE_FAILED",
        `Partition ${writer.partition} has another owner since epoch ${held.epoch}; this is ${writer.epoch}.`,
      ); // K3
    checkBatch(batch);
    const changes = changesOf(held.rows, batch);
    for (const apply of changes) apply(); // K1
    held.unflushed.push(batch);
    for (const { header, record } of batch.executions)
      if (record) this.#observer.see({ kind: "written", ...writer, executionId: header.id, record });
    return held.flushed.length + held.unflushed.length;
  }

  /** Makes everything durable up to and with the batch at this place. */
  flush(partition: number, place = Infinity): void {
    const held = this.#byNumber[partition]!;
    const batches = held.unflushed.splice(0, Math.max(0, place - held.flushed.length));
    held.flushed.push(...batches);
    for (const { executions } of batches)
      for (const { header, record } of executions) {
        if (!record) continue;
        const length = record.sequence + record.events.length;
        this.#observer.see({ kind: "flushed", executionId: header.id, length });
      }
  }

  /** Power is lost: of what was not flushed, so many batches of each partition survive, oldest first. (K2) */
  losePower(keep: (unflushed: number) => number): void {
    for (const [partition, held] of this.#byNumber.entries()) {
      const lost = held.unflushed.splice(keep(held.unflushed.length));
      this.flush(partition);
      if (lost.length === 0) continue;
      held.rows = new MemoryRows();
      for (const batch of held.flushed) for (const apply of changesOf(held.rows, batch)) apply();
      for (const id of idsOf(lost))
        this.#observer.see({ kind: "lost", executionId: id, length: this.events(id).length });
    }
  }
}

function changesOf(rows: MemoryRows, { executions, meters = [] }: CommitBatch): readonly (() => void)[] {
  return [
    ...executions.map((commit) => rows.prepare(commit)),
    ...meters.map((row) => rows.prepareMeter(row)),
  ];
}

function idsOf(batches: readonly CommitBatch[]): ReadonlySet<string> {
  return new Set(batches.flatMap(({ executions }) => executions.map(({ header }) => header.id)));
}
