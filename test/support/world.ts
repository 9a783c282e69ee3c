// World: everything around a runtime that a test wants to hold in its hands: time, the log that outlives processes, the
// processes themselves, and a count of what the effects did.
//
// Nothing here sleeps. `until` lets the event loop turn while anything is under way at this instant, then moves time to
// the next waiting callback; when there is neither, it fails at once and says so, instead of hanging.

import { setImmediate as nextTurn } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { z } from "zod";
import { type ExecutionHandle, ExecutionRuntime, type RuntimeOptions } from "../../src/actors/index.js";
import { EffectRuntime, type RingLayer } from "../../src/effects/index.js";
import {
  defineFlow,
  type EventEnvelope,
  type EventStore,
  type ExecutableTask,
  type ExecutionContext,
  type ExecutionHeader,
  type ExecutionState,
  type FlowOptions,
  flow$,
  fold,
  HeddleError,
  handler$,
  hasCode,
  isTerminal,
  LmdbEventStore,
  type LogRecord,
  MemoryEventStore,
  MemorySnapshotStore,
  type RegisteredFlow,
  type StepDefinition,
  type StepHandlerContext,
  step$,
  type TimerRow,
  VALUE_LIMITS,
} from "../../src/kernel/index.js";
import { type Lifetime, SimClock } from "./sim-clock.js";
import { type CrashPlan, type Pace, TappedStore } from "./tapped-store.js";
import { temporaryDirectory } from "./temporary-directory.js";

export interface ProcessOptions
  extends Partial<
    Pick<
      RuntimeOptions,
      | "maxResident"
      | "limits"
      | "snapshotEvery"
      | "validateInput"
      | "onEvent"
      | "onDurableEvent"
      | "onStorageError"
      | "onWarn"
      | "snapshotStore"
      | "ledger"
      | "vault"
    >
  > {
  readonly crash?: CrashPlan;
  readonly pace?: Pace;
  readonly failAt?: number;
  readonly middleware?: readonly RingLayer[];
}

/** More moves of time than any scenario has reason for: a runaway re-arm is a failure, not a hang. */
const STEPS_MAX = 30_000;

export class Process {
  readonly runtime: ExecutionRuntime;
  readonly effects: EffectRuntime;
  readonly store: TappedStore;
  readonly clock: Lifetime;
  readonly warnings: string[] = [];
  /** Resolves when the planned crash has happened. */
  readonly crashed: Promise<void>;
  readonly #world: World;

  constructor(world: World, inner: EventStore, ownsInner: boolean, options: ProcessOptions) {
    const { crash, middleware, pace, failAt, ...rest } = options;
    this.#world = world;
    this.clock = world.clock.lifetime();
    let onCrash = (): void => {};
    this.crashed = new Promise((resolve) => {
      onCrash = () => {
        this.clock.end();
        resolve();
      };
    });
    this.store = new TappedStore(inner, { ownsInner, plan: crash, onCrash: () => onCrash() });
    if (pace) this.store.pace = pace;
    this.store.failAt = failAt;
    this.effects = new EffectRuntime(middleware);
    this.runtime = new ExecutionRuntime({
      eventStore: this.store,
      snapshotStore: world.snapshots,
      effectRuntime: this.effects,
      clock: this.clock,
      entropy: world.entropy,
      fillRandom: world.fillRandom,
      limits: VALUE_LIMITS,
      onWarn: (message) => this.warnings.push(message),
      ...rest,
    });
  }

  register(flows: readonly RegisteredFlow[]): void {
    for (const { definition, runner } of flows) this.runtime.registerFlow(definition, runner);
  }

  start<TIn, TOut>(
    flow: RegisteredFlow<TIn, TOut>,
    input: NoInfer<TIn>,
    executionId = "x",
  ): Promise<ExecutionHandle<TOut>> {
    return this.#world.until(this.runtime.start(flow, input, { executionId }));
  }

  /** Runs an execution to its end, answering its gates. */
  finish(executionId: string, answers: Answers = {}): Promise<ExecutionState> {
    return this.#world.finish(this, executionId, answers);
  }

  /** Ends the process without warning. */
  async kill(): Promise<void> {
    this.clock.end();
    await this.store.kill();
  }

  close(): Promise<void> {
    return this.#world.until(this.runtime.close());
  }
}

/** What somebody outside gives each gate, by its name or by its id (`approve#1`), which comes first. */
export type Answers = Readonly<Record<string, unknown>>;

interface Log {
  open(): EventStore;
  /** Whether one store object serves every process, as memory must. */
  readonly outlivesProcess: boolean;
  read(executionId: string): Promise<EventEnvelope[]>;
}

export class World {
  readonly clock = new SimClock();
  readonly snapshots = new MemorySnapshotStore();
  /** How often each effect began, by `execution/step`. */
  readonly runs = new Map<string, number>();
  readonly entropy = seededEntropy();
  process: Process | undefined;
  readonly #log: Log;
  #random = 0;

  private constructor(log: Log) {
    this.#log = log;
  }

  static memory(partitions = 1): World {
    const store = new MemoryEventStore({ partitions });
    return World.#tracked(
      new World({ open: () => store, outlivesProcess: true, read: (id) => store.read(id) }),
    );
  }

  static lmdb(partitions = 1): World {
    const dir = temporaryDirectory();
    const open = () =>
      new LmdbEventStore({ dir, now: Date.now, createdBy: "a test", partitions, sync: "commit" });
    const read = async (id: string): Promise<EventEnvelope[]> => {
      const reader = open(); // reading needs no ownership
      const events = await reader.read(id);
      await reader.close();
      return events;
    };
    return World.#tracked(new World({ open, outlivesProcess: false, read }));
  }

  static #tracked(world: World): World {
    onTestFinished(async () => {
      await world.process?.kill();
    });
    return world;
  }

  readonly fillRandom = (bytes: Uint8Array): Uint8Array => {
    for (let i = 0; i < bytes.length; i++) bytes[i] = this.#random++ & 0xff;
    return bytes;
  };

  /** Builds a process on the log, not yet opened. The one before it must be gone. */
  prepare(flows: readonly RegisteredFlow[], options: ProcessOptions = {}): Process {
    const process = new Process(this, this.#log.open(), !this.#log.outlivesProcess, options);
    this.process = process;
    process.register(flows);
    return process;
  }

  /** Starts a process on the log. */
  async open(flows: readonly RegisteredFlow[], options: ProcessOptions = {}): Promise<Process> {
    const process = this.prepare(flows, options);
    await this.until(Promise.race([process.runtime.open(), process.crashed]));
    return process;
  }

  /** Kills the process and starts another one on the same log. */
  async restart(flows: readonly RegisteredFlow[], options: ProcessOptions = {}): Promise<Process> {
    await this.process?.kill();
    return this.open(flows, options);
  }

  events(executionId = "x"): Promise<EventEnvelope[]> {
    return this.#log.read(executionId);
  }

  /** The stored records of the only execution, as the log holds them. No process may be alive. */
  async records(): Promise<readonly LogRecord[]> {
    const log = await this.#log.open().open(0);
    const [records] = await log.load([0]);
    await log.close();
    if (!records || records instanceof HeddleError) throw records ?? new Error("no execution");
    return records;
  }

  /** Writes a log as if a process had left it behind, with the timers its open gates wait for. */
  async write(
    { definition }: RegisteredFlow,
    records: readonly LogRecord[],
    executionId = "x",
  ): Promise<void> {
    const { gates, sequence } = fold(records);
    const arm = Object.values(gates).flatMap(({ gateId, status, wakeAt }) =>
      status === "open" && wakeAt !== undefined ? [{ key: 0, wakeAt, gateId: `gate:${gateId}` }] : [],
    );
    const header: ExecutionHeader = {
      key: 0,
      id: executionId,
      flowId: definition.id,
      flowVersion: definition.version,
      status: "running",
      sequence,
      createdAt: this.clock.now,
      updatedAt: this.clock.now,
      aside: undefined,
    };
    const log = await this.#log.open().open(0);
    for (const [index, record] of records.entries()) {
      const created = index === 0;
      const execution = {
        header,
        created,
        refile: created ? { from: undefined } : undefined,
        record,
        arm: created ? arm : [],
        disarm: [],
      };
      await log.commit({ executions: [execution] });
    }
    await log.close();
  }

  /** Puts timers into the index that no process armed. */
  async arm(rows: readonly TimerRow[]): Promise<void> {
    const log = await this.#log.open().open(0);
    const headers = await log.headers(rows.map(({ key }) => key));
    for (const [index, row] of rows.entries()) {
      const header = headers[index];
      if (!header || header instanceof HeddleError) throw new Error(`no execution ${row.key}`);
      await log.commit({
        executions: [
          { header, created: false, refile: undefined, record: undefined, arm: [row], disarm: [] },
        ],
      });
    }
    await log.close();
  }

  async types(executionId = "x"): Promise<string[]> {
    return (await this.events(executionId)).map(({ type }) => type);
  }

  /** Lets everything run that can run at this instant. */
  async settle(): Promise<void> {
    let calm = 0;
    while (calm < 2) {
      await nextTurn();
      calm = this.clock.pendingSoon > 0 || (this.process?.store.callsInFlight ?? 0) > 0 ? 0 : calm + 1;
    }
  }

  /** Lets the world run, time included, until the promise is settled. */
  async until<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false;
    const note = (): void => {
      isSettled = true;
    };
    promise.then(note, note);
    for (let steps = 0; ; steps++) {
      await this.settle();
      if (isSettled) return promise;
      this.#step(steps);
    }
  }

  /** Lets the world run until the condition holds. */
  async when(condition: () => boolean): Promise<void> {
    for (let steps = 0; ; steps++) {
      await this.settle();
      if (condition()) return;
      this.#step(steps);
    }
  }

  /** Lets the world run for a time, and no longer. */
  async pass(milliseconds: number): Promise<void> {
    const end = this.clock.now + milliseconds;
    for (let steps = 0; ; steps++) {
      await this.settle();
      const due = this.clock.nextDue;
      if (due === undefined || due > end) break;
      this.#step(steps);
    }
    this.clock.jump(end - this.clock.now);
  }

  async finish(process: Process, executionId: string, answers: Answers): Promise<ExecutionState> {
    for (let steps = 0; ; steps++) {
      await this.settle();
      if (process.store.isDead) throw new Error("the process died");
      const state = await process.runtime.loadState(executionId);
      if (isTerminal(state.status)) return state;
      const open = Object.values(state.gates).filter(
        (gate) => gate.kind === "event" && gate.status === "open",
      );
      const gate = open.find(({ gateId, on }) => gateId in answers || on in answers);
      if (gate) {
        const { gateId, on } = gate;
        const payload = gateId in answers ? answers[gateId] : answers[on];
        const resumed = process.runtime.resume(executionId, {
          eventType: on,
          gateId,
          payload,
          requestId: `answer-${gateId}`,
        });
        try {
          await this.until(Promise.race([resumed, process.crashed]));
        } catch (error) {
          // The log failed: the answer is sent again once it takes writes.
          if (!hasCode(error, "STORAGE_FAILED")) throw error;
          await this.pass(60_000);
        }
      } else this.#step(steps);
    }
  }

  // ── What flows are made of ────────────────────────────────────────────────────────────────────────────────────

  /** A step whose runs are counted. */
  step<TIn = unknown, TOut = unknown>(
    id: string,
    run: (input: TIn, ctx: StepHandlerContext) => TOut | Promise<TOut>,
    options: Partial<
      Pick<
        ExecutableTask,
        "retry" | "timeoutMs" | "deadlineMs" | "errors" | "idempotent" | "expand" | "signal"
      >
    > = {},
  ): StepDefinition<TIn, TOut> {
    return step$<TIn, TOut>({
      id,
      inputSchema: z.custom<TIn>(),
      outputSchema: z.custom<TOut>(),
      handler: handler$((input: TIn, ctx) => {
        this.count(`${ctx.executionId}/${id}`);
        return run(input, ctx);
      }),
      ...options,
    });
  }

  count(key: string): void {
    this.runs.set(key, (this.runs.get(key) ?? 0) + 1);
  }

  ran(step: string, executionId = "x"): number {
    return this.runs.get(`${executionId}/${step}`) ?? 0;
  }

  /** Waits in an effect, in the time of the process that runs it. */
  delay(milliseconds: number): Promise<void> {
    return new Promise((resolve) => this.process!.clock.after(milliseconds, resolve));
  }

  #step(steps: number): void {
    if (steps > STEPS_MAX) throw new Error(`The world moved ${steps} times without getting there.`);
    if (!this.clock.step()) {
      const warnings = this.process?.warnings.join("\n") ?? "";
      throw new Error(`The world stands still: nothing is under way and nothing is due. ${warnings}`);
    }
  }
}

/** A flow of any input and output. */
export function flow<TIn = unknown, TOut = unknown>(
  id: string,
  run: (ctx: ExecutionContext, input: TIn) => Promise<TOut>,
  options: Partial<FlowOptions<TIn, TOut>> = {},
): RegisteredFlow<TIn, TOut> {
  return defineFlow(
    flow$<TIn, TOut>({
      id,
      version: "1",
      inputSchema: z.custom<TIn>(),
      outputSchema: z.custom<TOut>(),
      ...options,
    }),
    run,
  );
}

/** What an effect does that ends when it is told to, and no sooner. */
export function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}

/** Of what was caught. */
export const codeOf = (error: unknown): string => (error as HeddleError).code;

/** Repeatable randomness, never the same twice in a row. */
function seededEntropy(): { random(): number; uuid(): string } {
  let state = 1;
  const random = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const uuid = (): string => {
    const hex = Array.from({ length: 4 }, () =>
      Math.floor(random() * 2 ** 32)
        .toString(16)
        .padStart(8, "0"),
    ).join("");
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
  };
  return { random, uuid };
}

/** Counts what would have ended the host, for the length of a test. */
export function unhandledRejections(): unknown[] {
  const seen: unknown[] = [];
  const note = (reason: unknown): void => void seen.push(reason);
  process.on("unhandledRejection", note);
  onTestFinished(() => void process.off("unhandledRejection", note));
  return seen;
}
