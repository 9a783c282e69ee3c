// Simulation: one seed, from the first process to the last execution's end. The real kernel and actors run over a simulated
// disk, clock and workers; every observation goes to the checks.
//
// Owns       which process is the owner, which faults strike when, when it is over.
// Leaves     what is right to the checks, what is run to the subjects.
//
// N1  Nothing but the seed decides what happens: no real timer, no thread, no clock.
// N2  Faults stop after a while. From then on everything has to come to its end, and nothing may be left over.

import { setImmediate as nextTurn } from "node:timers/promises";
import type { EffectRuntime, Invocation } from "../../effects/index.js";
import type { ExecutionState, RegisteredFlow, SnapshotStore } from "../../kernel/index.js";
import { ClientChecks } from "./checks/client-checks.js";
import { EffectChecks } from "./checks/effect-checks.js";
import { OwnerChecks } from "./checks/owner-checks.js";
import { Clients, type Subject } from "./clients.js";
import { SimDisk } from "./disk.js";
import { type Faults, NO_FAULTS } from "./faults.js";
import { Logs } from "./logs.js";
import { type Observation, type Observer, Violation } from "./observation.js";
import { SimRandom } from "./random.js";
import { type Lane, Scheduler } from "./scheduler.js";
import { SimProcess } from "./sim-process.js";
import { SimSnapshots } from "./sim-snapshots.js";
import type { Tamper } from "./sim-store.js";
import { Trace, type TraceEntry } from "./trace.js";

export interface SimulationOptions {
  readonly seed: number;
  readonly faults: Faults;
  /** How many ticks faults strike in. */
  readonly faultTicks: number;
  readonly partitions?: number | undefined;
  readonly flows: readonly RegisteredFlow[];
  readonly subjects: readonly Subject[];
  readonly registerEffects?: ((effects: EffectRuntime) => void) | undefined;
  /** The invocation as its effect is to see it. Default: as it is. */
  readonly shown?: ((invocation: Invocation) => Invocation) | undefined;
  /** Sees what the checks see, before them. */
  readonly observer?: Observer | undefined;
  /** Breaks a rule on purpose. */
  readonly tamper?: Tamper | undefined;
  /** Awaited after each tick: lets come to its end what effects do in real time, before time moves. */
  readonly settleOutside?: (() => Promise<void>) | undefined;
}

export interface SimulationResult {
  readonly violation: Violation | undefined;
  /** How each execution ended. */
  readonly ends: ReadonlyMap<string, ExecutionState>;
  readonly entries: readonly TraceEntry[];
}

const TICKS_MAX = 20_000;
/** Turns of the event loop in which whatever is on its way has to arrive. */
const IDLE_TURNS = 4;

export class Simulation {
  readonly scheduler: Scheduler;
  readonly logs = new Logs();
  readonly #options: SimulationOptions;
  readonly #random: SimRandom;
  readonly #trace: Trace;
  readonly #disk: SimDisk;
  readonly #snapshots: SnapshotStore;
  readonly #clients: Clients;
  readonly #checks: readonly Observer[];
  readonly #world: Lane;
  #machine: Lane;
  #faults: Faults;
  #owner: SimProcess | undefined;
  /** Those that lost the log to another and do not know. */
  #former: SimProcess[] = [];
  #processCount = 0;
  #violation: Violation | undefined;
  #isBooting = false;

  constructor(options: SimulationOptions) {
    this.#options = options;
    this.#random = new SimRandom(options.seed);
    this.#faults = options.faults;
    this.scheduler = new Scheduler(this.#random.fork("order"));
    this.#trace = new Trace(() => this.scheduler.now);
    this.#world = this.scheduler.lane("world");
    this.#machine = this.scheduler.lane("machine");
    const observer: Observer = { see: (observation) => this.#see(observation) };
    this.#snapshots = new SimSnapshots(observer);
    this.#disk = new SimDisk(options.partitions ?? 1, observer);
    this.#checks = [
      ...(options.observer ? [options.observer] : []),
      this.logs,
      new OwnerChecks(),
      new EffectChecks(this.logs),
      new ClientChecks(this.logs),
    ];
    this.#clients = new Clients({
      subjects: options.subjects,
      scheduler: this.scheduler,
      random: this.#random.fork("clients"),
      logs: this.logs,
      observer,
      faults: () => this.#faults,
      isFenced: (process, executionId) => this.#disk.isFenced(process, executionId),
      process: () => this.#someProcess(),
    });
  }

  /** A wait in the time of whoever runs just now. */
  delay(milliseconds: number): Promise<void> {
    const { active } = this.scheduler;
    return active ? this.scheduler.pause(active, milliseconds) : Promise.resolve();
  }

  async run(): Promise<SimulationResult> {
    this.#boot();
    let faultTicks = this.#options.faultTicks;
    let ticks = 0;
    for (; !this.#violation && ticks < TICKS_MAX; ticks++) {
      if (ticks < faultTicks) this.#misfortune();
      else if (ticks === faultTicks) this.#heal();
      const hasRun = this.scheduler.tick();
      await nextTurn();
      if (this.#options.settleOutside) await this.#options.settleOutside();
      this.#clients.look();
      this.#note(() => this.#checkClients());
      if (hasRun || (await this.#goesOn())) continue;
      if (ticks >= faultTicks) break;
      faultTicks = ticks + 1; // nothing is left for faults to disturb
    }
    this.#note(() => this.#checkEnd(ticks));
    for (const process of this.#alive) process.kill();
    this.scheduler.end(this.#machine);
    return { violation: this.#violation, ends: this.#clients.ends, entries: this.#trace.entries };
  }

  /** Whether something arrives that no task brings: what an effect does in real time. */
  async #goesOn(): Promise<boolean> {
    for (let turn = 0; turn < IDLE_TURNS; turn++) {
      await nextTurn();
      this.#clients.look();
      if (this.scheduler.hasTasks) return true;
    }
    return false;
  }

  // ── What goes wrong ───────────────────────────────────────────────────────────────────────────────────────────

  #misfortune(): void {
    const { kill, powerLoss, pause, takeover, clockStep } = this.#faults;
    const owner = this.#owner;
    const random = this.#random;
    if (random.chance(clockStep)) this.#stepClock();
    if (!owner) return;
    if (random.chance(powerLoss)) this.#losePower();
    else if (random.chance(kill)) this.#kill(owner);
    else if (random.chance(takeover)) this.#takeOver(owner);
    else if (random.chance(pause)) this.#pause(owner, random.pick([1, 40, 2_000, 90_000]));
  }

  #kill(process: SimProcess): void {
    this.#fault(`${process.name} is killed`);
    this.#end(process);
    this.#bootLater();
  }

  #losePower(): void {
    this.#fault("the machine loses its power");
    for (const process of this.#alive) this.#end(process);
    this.scheduler.end(this.#machine);
    this.#disk.losePower((unflushed) => this.#random.between(0, unflushed));
    this.#machine = this.scheduler.lane("machine");
    this.#bootLater();
  }

  #pause(process: SimProcess, forMs: number): void {
    if (process.lane.state !== "running") return;
    this.#fault(`${process.name} is stopped for ${forMs} ms`);
    process.lane.state = "paused";
    this.scheduler.schedule(this.#world, forMs, () => {
      if (process.lane.state === "paused") process.lane.state = "running";
    });
  }

  /** Another process takes the log over. The one before goes on for a while, and finds out by its next commit. */
  #takeOver(process: SimProcess): void {
    this.#fault(`${process.name} loses the log to another process, and is not told`);
    this.#former.push(process);
    if (this.#random.chance(0.5)) this.#pause(process, this.#random.pick([5, 300]));
    this.scheduler.schedule(this.#world, this.#random.pick([20, 900, 40_000]), () => {
      if (process.isAlive) this.#end(process);
    });
    this.#boot();
  }

  #stepClock(): void {
    const byMs = this.#random.pick([-3_600_000, -900, -1, 1, 900, 3_600_000]);
    this.#see({ kind: "clockSet", byMs });
    this.scheduler.stepClock(byMs);
  }

  /** N2 */
  #heal(): void {
    this.#fault("none from here on");
    this.#faults = NO_FAULTS;
    for (const process of this.#former) this.#end(process);
    if (this.#owner?.lane.state === "paused") this.#owner.lane.state = "running";
  }

  #fault(what: string): void {
    this.#see({ kind: "fault", what });
  }

  // ── Processes ─────────────────────────────────────────────────────────────────────────────────────────────────

  #boot(): void {
    const generation = ++this.#processCount;
    const { flows, registerEffects = () => {}, shown = (invocation) => invocation } = this.#options;
    const process = new SimProcess(generation, {
      disk: this.#disk,
      snapshots: this.#snapshots,
      scheduler: this.scheduler,
      random: this.#random.fork(`process ${generation}`),
      machine: this.#machine,
      faults: () => this.#faults,
      observer: { see: (observation) => this.#see(observation) },
      flows,
      registerEffects,
      shown,
      tamper: this.#options.tamper,
    });
    this.#owner = process;
  }

  #bootLater(): void {
    if (this.#isBooting) return;
    this.#isBooting = true;
    this.scheduler.schedule(this.#world, this.#random.pick([0, 0, 3, 500, 60_000]), () => {
      this.#isBooting = false;
      if (!this.#owner) this.#boot();
    });
  }

  #end(process: SimProcess): void {
    process.kill();
    if (this.#owner === process) this.#owner = undefined;
    this.#former = this.#former.filter((other) => other !== process);
    this.#clients.gone(process);
  }

  /** The owner of the log or, seldom, one that was. */
  #someProcess(): SimProcess | undefined {
    const isMistaken = this.#former.length > 0 && this.#random.chance(0.2);
    return isMistaken ? this.#former[0] : this.#owner;
  }

  get #alive(): readonly SimProcess[] {
    return this.#owner ? [...this.#former, this.#owner] : [...this.#former];
  }

  // ── Judgement ─────────────────────────────────────────────────────────────────────────────────────────────────

  #see(observation: Observation): void {
    this.#trace.see(observation);
    for (const check of this.#checks) this.#note(() => check.see(observation));
  }

  /** A check must not throw through the code it judges, which would take that for a failure of its own. */
  #note(check: () => void): void {
    try {
      check();
    } catch (error) {
      this.#violation ??= error instanceof Violation ? error : new Violation("check", String(error));
    }
  }

  #checkClients(): void {
    const { aside, unexpected } = this.#clients;
    if (aside[0]) throw new Violation("divergence", aside[0].message);
    if (unexpected.length > 0) throw new Violation("refusal", String(unexpected[0]));
  }

  /** N2 */
  #checkEnd(ticks: number): void {
    if (ticks >= TICKS_MAX) throw new Violation("stall", `nothing came to rest in ${TICKS_MAX} ticks.`);
    for (const { executionId } of this.#options.subjects) {
      if (this.#clients.ends.has(executionId)) continue;
      const log = this.logs.of(executionId);
      const last = log.events.at(-1)?.type ?? "nothing";
      throw new Violation(
        "stall",
        `${executionId} goes no further; the last event is ${last} (#${log.length - 1}).`,
      );
    }
    const [timer] = this.#disk.timers;
    if (timer)
      throw new Violation("leftover", `the timer ${timer.gateId} is left when everything has ended.`);
  }
}
