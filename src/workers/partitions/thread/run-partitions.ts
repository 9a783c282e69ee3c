// The life of a partition thread: it loads the user's module, runs its share of the partitions as the host's thread would
// run them, and answers what it is asked.
//
// Owns       the store, the partitions and the outbox of this thread.
// Leaves     what is asked of executions to the desk, the partitions' own life to LocalPartitions.
//
// T1  Nothing is opened before the host has seen what the module exports.
// T2  What was said before the thread ends by itself is heard: the outbox is emptied when the thread exits.
// T3  What it ends of is told to the host's hooks and callers, so the secrets of executions are taken out of it first.

import { Admission, FlowRegistry, LocalPartitions, type PartitionLoad } from "../../../actors/index.js";
import {
  cleanse,
  EffectRuntime,
  type KillRecord,
  KillSwitch,
  type Redactor,
} from "../../../effects/index.js";
import {
  type Clock,
  type ContentStore,
  type Entropy,
  HeddleError,
  invariant,
  LmdbEventStore,
  Vault,
} from "../../../kernel/index.js";
import { answer, exposeControl } from "../../control-line.js";
import { watchLoop } from "../../loop-figures.js";
import { PACKET_FORMAT } from "../../packets/index.js";
import type { EffectPoolOptions, PoolInspection, TuneOptions } from "../../pool/index.js";
import { PooledEffects } from "../../pooled-effects.js";
import type { PartitionControl, ThreadDescription } from "../control.js";
import { leaveFootprints } from "../footprint.js";
import { Outbox } from "../outbox.js";
import { type HostMessage, ToHost, unpackForThread } from "../protocol.js";
import type { PoolSettings, ThreadSetup } from "../setup.js";
import type { ThreadFigures } from "../stats.js";
import { loadAppModule } from "./app-module.js";
import { CrossingObserver } from "./crossing-observer.js";
import { HookWindow } from "./hook-window.js";
import { News } from "./news.js";
import { RequestDesk } from "./request-desk.js";
import { ThreadLedger } from "./thread-ledger.js";

/** The thread may be ahead of the host's hooks by so much. */
const HOOK_BYTES_MAX = 1024 * 1024;
const NO_LOAD: PartitionLoad = { resident: 0, ready: 0, attempts: 0, heldBack: 0, commits: 0 };

export interface Surroundings {
  readonly clock: Clock;
  readonly entropy: Entropy;
}

export function runPartitions(setup: ThreadSetup, surroundings: Surroundings): void {
  const thread = new PartitionsHere(setup, surroundings);
  exposeControl<PartitionControl>(
    {
      describe: () => answer(() => thread.describe()),
      open: () => answer(() => thread.open()),
      stats: () => answer(() => thread.stats()),
      stop: (records) => answer(() => thread.stop(records)),
      inspect: () => answer(() => thread.inspect()),
      tune: (limits) => answer(() => thread.tune(limits)),
      close: (deadlineMs) => answer(() => thread.close(deadlineMs)),
    },
    setup.control,
  );
}

class PartitionsHere {
  readonly #setup: ThreadSetup;
  readonly #surroundings: Surroundings;
  readonly #registry = new FlowRegistry();
  readonly #outbox: Outbox<HostMessage>;
  readonly #window = new HookWindow(HOOK_BYTES_MAX);
  readonly #observer: CrossingObserver;
  readonly #desk: RequestDesk;
  readonly #admission: Admission;
  readonly #ledger: ThreadLedger | undefined;
  readonly #readLoop = watchLoop(10);
  readonly #killSwitch: KillSwitch | undefined;
  readonly #vault: Vault;
  #redactor: Redactor | undefined;
  #effects: EffectRuntime | undefined;
  #partitions: LocalPartitions | undefined;
  #pooled: PooledEffects | undefined;
  #store: LmdbEventStore | undefined;
  #citesContent = false;

  constructor(setup: ThreadSetup, surroundings: Surroundings) {
    const { packets, storage, hooks, admission, budgets } = setup;
    this.#setup = setup;
    this.#vault = new Vault(setup.sealingKeys);
    this.#surroundings = surroundings;
    this.#admission = new Admission(admission);
    this.#killSwitch = setup.hasKillSwitch ? new KillSwitch() : undefined;
    this.#outbox = new Outbox(packets);
    this.#outbox.left = (messages, bytes) => {
      if (messages.some(([kind]) => kind === ToHost.event)) this.#window.sent(bytes);
    };
    const news = new News((id, sequence) => this.#outbox.post([ToHost.durable, id, sequence]));
    this.#observer = new CrossingObserver(this.#outbox, news, hooks);
    this.#ledger = budgets && new ThreadLedger(budgets, () => surroundings.clock.now(), this.#outbox);
    this.#desk = new RequestDesk({
      outbox: this.#outbox,
      registry: this.#registry,
      news,
      window: this.#window,
      ledger: this.#ledger,
      partitions: storage.partitions,
    });
    packets.on("message", (packet) => {
      for (const message of unpackForThread(packet)) this.#desk.take(message);
    });
    // The thread's own events, not the process's.
    process.on("exit", () => this.#outbox.flush()); // T2
    process.on("uncaughtExceptionMonitor", (error) =>
      cleanse(error, [...this.#vault.recent, ...(this.#redactor?.secrets ?? [])]),
    ); // T3
  }

  async describe(): Promise<ThreadDescription> {
    const { format, app } = this.#setup;
    if (format !== PACKET_FORMAT) {
      throw new HeddleError(
        "CONFIG_INVALID",
        `workers.entry is of another version of heddle (packets ${PACKET_FORMAT}, not ${format}).`,
        { details: { option: "workers.entry" } },
      );
    }
    const { flows, effects, claimCheck, redactor } = await loadAppModule(app, {
      store: () => this.#contentStore(),
      now: () => this.#surroundings.clock.now(),
      killSwitch: this.#killSwitch,
      isStrict: this.#setup.strict,
      budgeting: this.#ledger && { ledger: this.#ledger, now: () => this.#surroundings.clock.now() },
    });
    this.#citesContent = claimCheck !== undefined;
    this.#redactor = redactor;
    for (const { definition, runner } of flows) this.#registry.register(definition, runner);
    this.#effects = effects;
    return { flows: flows.map(({ definition: { id, version } }) => ({ id, version })) };
  }

  async open(): Promise<null> {
    const { storage, numbers, limits, snapshotEvery, maxResident, effects, caution } = this.#setup;
    const { clock, entropy } = this.#surroundings;
    const { dir, partitions, sync, createdBy } = storage;
    const effectRuntime = this.#effects ?? new EffectRuntime(); // T1
    this.#store = new LmdbEventStore({
      dir,
      partitions,
      createdBy,
      now: () => clock.now(),
      interruptible: true,
      citesContent: this.#citesContent || storage.hasContent,
      ...(sync !== undefined && { sync }),
    });
    this.#pooled = effects && new PooledEffects(effectRuntime, poolOptions(effects));
    this.#partitions = new LocalPartitions({
      eventStore: this.#store,
      snapshotStore: this.#store.snapshots,
      effectRuntime,
      clock,
      entropy,
      limits,
      vault: this.#vault,
      registry: this.#registry,
      observer: this.#observer,
      snapshotEvery,
      maxResident,
      admission: this.#admission,
      ledger: this.#ledger,
      caution: {
        footprints: caution.footprints && leaveFootprints(caution.footprints),
        quarantined: new Set(caution.quarantined),
      },
      partitions: numbers,
      pace: () => this.#window.pause(),
      effects: this.#pooled,
    });
    try {
      const doors = await this.#partitions.open();
      this.#desk.open(new Map(numbers.map((number, i) => [number, doors[i]!])));
    } catch (error) {
      await this.#store.close();
      throw error;
    }
    return null;
  }

  #contentStore(): ContentStore {
    invariant(this.#store, "T1", "an effect ran before the log was open");
    return this.#store.content;
  }

  async stats(): Promise<ThreadFigures> {
    const { inFlight, waiting, waitingBytes } = this.#admission;
    return {
      ...this.#readLoop(),
      executionsAtWork: inFlight,
      startsWaiting: waiting,
      startsWaitingBytes: waitingBytes,
      load: this.#partitions?.load ?? NO_LOAD,
      hookBytes: this.#window.bytes,
      effects: await this.#pooled?.stats(),
    };
  }

  async stop(records: readonly KillRecord[]): Promise<null> {
    await this.#killSwitch?.replace(records);
    return null;
  }

  async inspect(): Promise<PoolInspection> {
    return (await this.#pooled?.inspect()) ?? [];
  }

  async tune(limits: TuneOptions): Promise<null> {
    this.#pooled?.tune(limits);
    return null;
  }

  async close(deadlineMs: number): Promise<null> {
    await this.#partitions?.close(deadlineMs);
    await this.#store?.close();
    this.#outbox.flush();
    return null;
  }
}

/** URLs crossed as text. */
function poolOptions({ entry, ...options }: PoolSettings): EffectPoolOptions {
  return { ...options, ...(entry !== undefined && { entry: new URL(entry) }) };
}
