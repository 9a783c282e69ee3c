// Goal: whatever is done to a store, in whatever order, it holds what a plain model of it holds.
// Method: fast-check makes up sequences of commands, each checked against the model; failures shrink to the shortest
// sequence. Both stores run the same commands.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hasCode } from "../../../src/kernel/errors.js";
import type { FiledStatus } from "../../../src/kernel/status.js";
import {
  type EventStore,
  type ExecutionCommit,
  LmdbEventStore,
  MemoryEventStore,
  type PartitionLog,
  type TimerRow,
} from "../../../src/kernel/store/index.js";
import { ScriptedExecution } from "../../../src/testing/scripted-execution.js";
import { temporaryDirectory } from "./temporary-directory.js";

const STATUSES: readonly FiledStatus[] = [
  "running",
  "suspended",
  "completed",
  "failed",
  "cancelled",
  "setAside",
];

interface Model {
  readonly executions: ScriptedExecution[];
  timers: TimerRow[];
  epoch: number;
}

interface Real {
  store: EventStore;
  log: PartitionLog;
  /** Closes the partition, and the store too if what it holds outlives it; opens it again. */
  reopen(): Promise<void>;
}

type Command = fc.AsyncCommand<Model, Real>;

const byTime = (a: TimerRow, b: TimerRow): number =>
  a.wakeAt - b.wakeAt || a.key - b.key || Buffer.compare(Buffer.from(a.gateId), Buffer.from(b.gateId));

/** What one execution does in a batch. */
interface Move {
  readonly execution: number;
  readonly events: number;
  readonly status: FiledStatus | undefined;
  readonly arm: readonly { readonly wakeAt: number; readonly gateId: string }[];
  /** How many of its armed timers it disarms. */
  readonly disarm: number;
}

class Commit implements Command {
  readonly starts: number;
  readonly moves: readonly Move[];

  constructor(starts: number, moves: readonly Move[]) {
    this.starts = starts;
    this.moves = moves;
  }

  check = (): boolean => true;

  async run(model: Model, { log }: Real): Promise<void> {
    const commits: ExecutionCommit[] = [];
    const moved = new Set<ScriptedExecution>();
    for (const move of this.moves) {
      const execution = model.executions[move.execution % model.executions.length];
      if (!execution || moved.has(execution)) continue;
      moved.add(execution);
      const disarm = model.timers.filter(({ key }) => key === execution.key).slice(0, move.disarm);
      const arm = move.arm.map(({ wakeAt, gateId }) => ({ wakeAt, gateId, key: execution.key }));
      model.timers = model.timers.filter((timer) => !disarm.includes(timer));
      for (const timer of arm) {
        if (!model.timers.some((other) => byTime(other, timer) === 0)) model.timers.push(timer);
      }
      const status = move.status;
      commits.push(execution.advance(move.events, { arm, disarm, ...(status !== undefined && { status }) }));
    }
    for (let count = 0; count < this.starts; count++) {
      const execution = new ScriptedExecution(model.executions.length);
      model.executions.push(execution);
      commits.push(execution.start({ count }));
    }
    await log.commit({ executions: commits });
  }

  toString = (): string => `commit(${JSON.stringify(this)})`;
}

class FailedCommit implements Command {
  check = (): boolean => true;

  async run(model: Model, { log }: Real): Promise<void> {
    const good = new ScriptedExecution(model.executions.length);
    const bad = new ScriptedExecution(model.executions.length + 1, "");
    const error: unknown = await log
      .commit({ executions: [good.start(), bad.start()] })
      .catch((e: unknown) => e);
    expect(hasCode(error, "ID_INVALID")).toBe(true);
    await log.commit({ executions: [] });
  }

  toString = (): string => "failed commit";
}

class Reopen implements Command {
  check = (): boolean => true;

  async run(model: Model, real: Real): Promise<void> {
    await real.reopen();
    model.epoch++;
    expect(real.log.epoch).toBe(model.epoch);
    expect(real.log.nextKey).toBe(model.executions.length);
  }

  toString = (): string => "reopen";
}

class Read implements Command {
  readonly execution: number;
  readonly from: number;
  readonly length: number;

  constructor(execution: number, from: number, length: number) {
    this.execution = execution;
    this.from = from;
    this.length = length;
  }

  check = (): boolean => true;

  async run({ executions }: Model, { store, log }: Real): Promise<void> {
    const execution = executions[this.execution % executions.length];
    if (!execution) return;
    const to = this.from + this.length;
    const events = await store.read(execution.id, { from: this.from, to });
    const expected = Array.from({ length: execution.length }, (_, sequence) => sequence);
    expect(events.map(({ sequence }) => sequence)).toEqual(
      expected.filter((at) => at >= this.from && at <= to),
    );
    const [records] = await log.load([execution.key], this.from);
    if (!records || records instanceof Error) throw records;
    const loaded = records.flatMap(({ sequence, events: all }) => all.map((_, index) => sequence + index));
    expect(loaded.filter((at) => at >= this.from)).toEqual(expected.filter((at) => at >= this.from));
    if (records.length > 0) expect(loaded[0]! + records[0]!.events.length).toBeGreaterThan(this.from);
  }

  toString = (): string => `read(${this.execution}, ${this.from}, ${this.length})`;
}

class Look implements Command {
  readonly after: number;
  readonly limit: number;
  readonly now: number;

  constructor(after: number, limit: number, now: number) {
    this.after = after;
    this.limit = limit;
    this.now = now;
  }

  check = (): boolean => true;

  async run({ executions, timers }: Model, { store, log }: Real): Promise<void> {
    const headers = executions.map(({ header }) => header);
    for (const status of STATUSES) {
      const filed = headers.filter((header) => header.status === status);
      const page = await log.page(status, this.after, this.limit);
      expect(page).toEqual(filed.filter(({ key }) => key > this.after).slice(0, this.limit));
      expect(await store.list({ status, limit: 1000 })).toEqual([...filed].reverse());
    }
    expect(await log.headers(headers.map(({ key }) => key))).toEqual(headers);
    expect(await log.lookup(headers.map(({ id }) => id))).toEqual(headers);
    const sorted = [...timers].sort(byTime);
    const due = sorted.filter(({ wakeAt }) => wakeAt <= this.now).slice(0, this.limit);
    expect(await log.timersDue(this.now, this.limit)).toEqual(due);
    expect(await log.nextTimer(this.now)).toBe(sorted.find(({ wakeAt }) => wakeAt > this.now)?.wakeAt);
    const after = headers[this.after];
    const rest = headers.filter(({ key }) => after === undefined || key < after.key).reverse();
    expect(await store.list({ limit: this.limit, ...(after && { after: after.id }) })).toEqual(
      rest.slice(0, this.limit),
    );
  }

  toString = (): string => `look(${this.after}, ${this.limit}, ${this.now})`;
}

const small = fc.nat({ max: 20 });
const move: fc.Arbitrary<Move> = fc.record({
  execution: fc.nat({ max: 30 }),
  events: fc.integer({ min: 1, max: 5 }),
  status: fc.option(fc.constantFrom(...STATUSES), { nil: undefined }),
  arm: fc.array(
    fc.record({
      wakeAt: fc.nat({ max: 50 }),
      gateId: fc.string({ minLength: 1, maxLength: 6, unit: "grapheme" }),
    }),
    {
      maxLength: 3,
    },
  ),
  disarm: fc.nat({ max: 3 }),
});
const commands = fc.commands(
  [
    fc
      .tuple(fc.nat({ max: 3 }), fc.array(move, { maxLength: 4 }))
      .map(([starts, moves]) => new Commit(starts, moves)),
    fc
      .tuple(fc.nat({ max: 3 }), fc.array(move, { maxLength: 4 }))
      .map(([starts, moves]) => new Commit(starts, moves)),
    fc.tuple(fc.nat({ max: 30 }), small, small).map((args) => new Read(...args)),
    fc
      .tuple(fc.integer({ min: -1, max: 20 }), fc.integer({ min: 1, max: 10 }), fc.nat({ max: 60 }))
      .map((args) => new Look(...args)),
    fc.constant(new Reopen()),
    fc.constant(new FailedCommit()),
  ],
  { maxCommands: 40 },
);

async function openMemory(): Promise<Real & { dispose(): Promise<void> }> {
  const store = new MemoryEventStore();
  const real = {
    store,
    log: await store.open(0),
    async reopen() {
      await real.log.close();
      real.log = await store.open(0);
    },
    dispose: () => store.close(),
  };
  return real;
}

async function openLmdb(): Promise<Real & { dispose(): Promise<void> }> {
  const { dir, remove } = temporaryDirectory();
  const openStore = (): LmdbEventStore =>
    new LmdbEventStore({ dir, now: Date.now, createdBy: "heddle test" });
  const store = openStore();
  const real: Real & { dispose(): Promise<void> } = {
    store,
    log: await store.open(0),
    async reopen() {
      await real.store.close();
      real.store = openStore();
      real.log = await real.store.open(0);
    },
    async dispose() {
      await real.store.close();
      remove();
    },
  };
  return real;
}

describe("a store and its model agree", () => {
  it.each([
    ["MemoryEventStore", openMemory, 300],
    ["LmdbEventStore", openLmdb, 60],
  ] as const)("%s", { timeout: 120_000 }, async (_name, open, numRuns) => {
    await fc.assert(
      fc.asyncProperty(commands, async (sequence) => {
        const real = await open();
        try {
          await fc.asyncModelRun(() => ({ model: { executions: [], timers: [], epoch: 1 }, real }), sequence);
        } finally {
          await real.dispose();
        }
      }),
      { numRuns },
    );
  });
});
