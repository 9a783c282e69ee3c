// ThreadPartitions: the partitions of a log in threads of their own, each thread with every n-th of them.
//
// Owns       the threads, and which executions somebody in the host subscribes to.
// Leaves     reading to the store, a thread's life and death to PartitionThread.
//
// H1  An opening that fails leaves no thread and no lock behind.
// H2  Whoever was answered reads what it wrote: the log is committed before the answer leaves the thread.
// H3  The host's hooks hear events in the order of each execution, before the answers that depend on them, and what they
//     have not heard yet is bounded: a thread waits for them (HookWindow).

import {
  type AdmissionOptions,
  type FlowRegistry,
  type Observer,
  type PartitionDoor,
  type PartitionHost,
  StateReader,
} from "../../actors/index.js";
import type { KillRecord, KillSwitch, Ledger } from "../../effects/index.js";
import {
  type Clock,
  type Following,
  HeddleError,
  type LmdbEventStore,
  partitionOf,
  type SealingKeyRing,
  type ValueLimits,
} from "../../kernel/index.js";
import { recordFromWire } from "../../kernel/store/record.js";
import { PACKET_FORMAT, unpackFailure } from "../packets/index.js";
import type { EffectPoolOptions, TuneOptions } from "../pool/index.js";
import { BudgetDesk } from "./budget-desk.js";
import type { ThreadDescription } from "./control.js";
import { invalid, type ThreadOptions } from "./options.js";
import { type NewsMessage, PartitionThread, type ThreadOwner } from "./partition-thread.js";
import { type BudgetMessage, Hook, type ThreadMessage, ToHost, ToThread } from "./protocol.js";
import type { ThreadSettings } from "./setup.js";
import { shareOfAdmission, shareOfLimits, shareOfPool } from "./shares.js";
import type { PartitionThreadInspection, PartitionThreadStats } from "./stats.js";
import { ThreadDoor } from "./thread-door.js";
import type { ThreadPlan } from "./thread-life.js";

export interface ThreadPartitionsOptions {
  readonly threads: ThreadOptions;
  readonly eventStore: LmdbEventStore;
  /** What the threads need to open the same directory. */
  readonly storage: Omit<ThreadSettings["storage"], "partitions" | "hasContent">;
  readonly registry: FlowRegistry;
  readonly observer: Observer;
  /** Which hooks the observer has. */
  readonly hooks: ThreadSettings["hooks"];
  readonly clock: Clock;
  readonly limits: ValueLimits;
  readonly snapshotEvery: number | undefined;
  /** Keys for marked values. Default: none. */
  readonly sealingKeys?: SealingKeyRing | undefined;
  readonly maxResident: number;
  readonly admission: AdmissionOptions;
  /** `execution.envelope`, and what it has counted. */
  readonly ledger: Ledger | undefined;
  readonly killSwitch: KillSwitch | undefined;
  /** Whether the module has to export an authorizer. */
  readonly strict: boolean;
  readonly effects: EffectPoolOptions | undefined;
}

export class ThreadPartitions implements PartitionHost, ThreadOwner {
  readonly #options: ThreadPartitionsOptions;
  readonly #following: Following;
  readonly #followed = new Set<string>();
  readonly #unfollow: (() => void) | undefined;
  readonly #budgets: BudgetDesk | undefined;
  #threads: readonly PartitionThread[] = [];
  #opening: Promise<unknown> | undefined;
  #isClosed = false;
  /** What the module exports, once a thread has told. */
  #exported: ThreadDescription | undefined;

  constructor(options: ThreadPartitionsOptions) {
    this.#options = options;
    this.#unfollow = options.killSwitch?.follow((records) =>
      Promise.all(this.#threads.map((thread) => thread.stop(records))),
    );
    this.#budgets = options.ledger && new BudgetDesk(options.ledger, options.eventStore.partitions);
    this.#following = options.eventStore.follow({
      begin: (executionId) => {
        this.#followed.add(executionId);
        this.#threadOf(executionId)?.post([ToThread.follow, executionId]);
      },
      end: (executionId) => {
        this.#followed.delete(executionId);
        this.#threadOf(executionId)?.post([ToThread.unfollow, executionId]);
      },
    });
  }

  open(): Promise<readonly PartitionDoor[]> {
    const opened = this.#open();
    this.#opening = opened.catch(() => {});
    return opened;
  }

  async #open(): Promise<readonly PartitionDoor[]> {
    const { eventStore, limits, snapshotEvery, clock } = this.#options;
    const { partitions } = eventStore;
    this.#threads = this.#plans().map((plan) => new PartitionThread(plan, this, clock));
    const openings = await Promise.allSettled(this.#threads.map((thread) => thread.open()));
    const failed = openings.find((opening) => opening.status === "rejected");
    if (failed) {
      await Promise.all(this.#threads.map((thread) => thread.close(0))); // H1
      this.#threads = [];
      throw asOpeningError(failed.reason);
    }
    const states = new StateReader(eventStore.snapshots, snapshotEvery);
    return Array.from({ length: partitions }, (_, number) => {
      const thread = this.#threads[number % this.#threads.length]!;
      return new ThreadDoor({ thread, reads: eventStore.reads(number), states, limits });
    });
  }

  flowRegistered(): void {
    if (this.#exported && !this.#isClosed) this.check(this.#exported);
  }

  async close(deadlineMs: number): Promise<void> {
    this.#isClosed = true;
    this.#unfollow?.();
    await Promise.all(this.#threads.map((thread) => thread.close(deadlineMs)));
    await this.#opening;
  }

  stats(): Promise<PartitionThreadStats[]> {
    return Promise.all(
      this.#threads.map(async (thread, number) => {
        const { utilisation, thread: figures } = await thread.figures();
        const { changes, waits } = thread.counts;
        return {
          thread: number,
          partitions: thread.numbers,
          isResponding: figures !== undefined,
          restarts: thread.restarts,
          changesPending: changes,
          callersWaiting: waits,
          utilisation,
          ...figures,
        };
      }),
    );
  }

  async inspect(): Promise<PartitionThreadInspection[]> {
    const flows = (this.#exported?.flows ?? []).map(({ id, version }) => `${id} version ${version}`);
    return Promise.all(
      this.#threads.map(async (thread) => ({
        partitions: thread.numbers,
        flows,
        effects: await thread.inspect().catch(() => []), // it ended meanwhile
      })),
    );
  }

  /** New limits of the effect pools, divided among the threads. */
  async tune(limits: TuneOptions): Promise<void> {
    const share = shareOfLimits(limits, this.#threads.length);
    await Promise.all(this.#threads.map((thread) => thread.tune(share)));
  }

  // ── ThreadOwner ───────────────────────────────────────────────────────────────────────────────────────────────

  check(description: ThreadDescription): void {
    this.#exported = description;
    const { registry, threads } = this.#options;
    for (const { definition } of registry.all()) {
      const { id, version } = definition;
      if (description.flows.some((flow) => flow.id === id && flow.version === version)) continue;
      const exported = description.flows.map((flow) => `${flow.id} version ${flow.version}`);
      throw invalid(
        "app",
        `${threads.app} does not export flow ${id} version ${version}, which this app registers. ` +
          `It exports: ${exported.join(", ") || "no flow"}. Partition threads run what the module exports: export it there`,
      );
    }
  }

  opened(thread: PartitionThread): void {
    for (const number of thread.numbers) this.#following.ownerOpened(number);
    for (const executionId of this.#followed) {
      if (this.#threadOf(executionId) === thread) thread.post([ToThread.follow, executionId]);
    }
  }

  ended(thread: PartitionThread): void {
    for (const number of thread.numbers) this.#following.ownerEnded(number);
  }

  stopped(): readonly KillRecord[] {
    return this.#options.killSwitch?.list() ?? [];
  }

  warn(message: string): void {
    this.#options.observer.warn(message);
  }

  heard(message: NewsMessage, thread: PartitionThread): void {
    const { observer } = this.#options;
    switch (message[0]) {
      case ToHost.durable: {
        const [, executionId, sequence] = message;
        this.#following.durable(executionId, sequence);
        return thread.post([ToThread.heard, executionId]);
      }
      case ToHost.event: {
        const [, hook, id, sequence, wire] = message;
        const written = [{ header: { id }, record: recordFromWire(sequence, wire) }];
        if (hook === Hook.onEvent) observer.appended(written);
        else observer.durable(written);
        return;
      }
      case ToHost.warning:
        return observer.warn(message[1]);
      case ToHost.storageError:
        return observer.storageError(message[1], unpackFailure(message[2]));
    }
  }

  counted(message: BudgetMessage, answer: (message: ThreadMessage) => void): void {
    this.#budgets?.take(message, answer);
  }

  #threadOf(executionId: string): PartitionThread | undefined {
    const { partitions } = this.#options.eventStore;
    return this.#threads[partitionOf(executionId, partitions) % this.#threads.length];
  }

  #plans(): ThreadPlan[] {
    const { threads, eventStore, storage, limits, snapshotEvery, maxResident, hooks } = this.#options;
    const { admission, ledger, killSwitch, strict, effects, sealingKeys } = this.#options;
    const { count, app, entry, resourceLimits, loadTimeoutMs } = threads;
    // The same for all of them, and found out once.
    const settings: Omit<ThreadPlan["settings"], "numbers"> = {
      format: PACKET_FORMAT,
      app,
      storage: { ...storage, partitions: eventStore.partitions, hasContent: eventStore.hasContent },
      limits,
      sealingKeys,
      snapshotEvery,
      maxResident,
      admission: shareOfAdmission(admission, count),
      budgets: ledger?.budgets,
      hasKillSwitch: killSwitch !== undefined,
      strict,
      hooks,
      effects: effects && shareOfPool(effects, count),
    };
    return Array.from({ length: count }, (_, thread) => {
      const numbers = Array.from({ length: eventStore.partitions }, (_, number) => number).filter(
        (number) => number % count === thread,
      );
      return {
        name: `heddle partitions ${numbers.join(",")}`,
        entry,
        resourceLimits,
        loadTimeoutMs,
        settings: { ...settings, numbers },
      };
    });
  }
}

/** A thread that did not even begin is the entry's fault; everything else says itself what is wrong. */
function asOpeningError(error: unknown): unknown {
  const { cause } = error as { readonly cause?: unknown };
  const isLost = error instanceof HeddleError && error.code === "PARTITION_THREAD_LOST";
  if (!isLost || !isNotFound(cause)) return error;
  return invalid("entry", `cannot be started: ${(cause as Error).message}`, cause);
}

function isNotFound(error: unknown): boolean {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND";
}
