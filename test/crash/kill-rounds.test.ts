// Goal: whatever the instant at which a host dies, its executions end as if it had not (C-LIF-01; the crash matrix is ./matrix.ts).
// Method: real child processes over real directories are killed with SIGKILL, by this process at a random moment or by
// themselves at a named point (appended, durable, effect started, effect finished, ...), a few hundred times over. After
// each death the log and an outside counter are held against what the child had acknowledged; at the end everything is
// finished and compared with a run that was never interrupted. One step may not run twice: where it is found in doubt, the
// next host looks into the outside counter and decides.
//
//   HEDDLE_KILL_ROUNDS=2000 HEDDLE_KILL_SEED=7 npx vitest run test/crash/kill-rounds.test.ts

import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, it } from "vitest";
import {
  defineConfig,
  type EventEnvelope,
  type EventStore,
  type LoomApp,
  lmdbStorage,
} from "../../src/index.js";
import { temporaryDirectory } from "../support/temporary-directory.js";
import { startChild } from "./child.js";
import { OutsideWorld } from "./outside-world.js";
import { between, pick, type Random, seededRandom } from "./random.js";

const ROUNDS = Number(process.env["HEDDLE_KILL_ROUNDS"] ?? 200);
const SEED = Number(process.env["HEDDLE_KILL_SEED"] ?? Date.now() % 1_000_000);
const HOST = new URL("./programs/mixed-host.mjs", import.meta.url);

/** Where a host may kill itself, and how often three executions pass there at most. */
const POINTS = [
  { point: "opened", most: 1 },
  { point: "started", most: 3 },
  { point: "appended", most: 100 },
  { point: "durable", most: 100 },
  { point: "effectStarted", most: 33 },
  { point: "effectFinished", most: 33 },
  { point: "once started", most: 3 },
  { point: "once finished", most: 3 },
  { point: "decided", most: 1 },
  { point: "resumed", most: 3 },
  { point: "ended", most: 3 },
] as const;

type Death =
  | { readonly kind: "point"; readonly point: string; readonly count: number }
  | { readonly kind: "moment"; readonly afterMs: number };

const TERMINAL = new Set(["EXECUTION_COMPLETED", "EXECUTION_FAILED", "EXECUTION_CANCELLED"]);

interface LaneOptions {
  readonly name: string;
  readonly directory: string;
  readonly seed: number;
  readonly maxResident?: number;
  readonly partitions?: number;
}

interface Ending {
  readonly status: string;
  readonly output: unknown;
  readonly story: readonly string[];
}

/** A directory and the hosts that live and die on it, one after the other. */
class Lane {
  readonly ids: string[] = [];
  readonly world: OutsideWorld;
  readonly #name: string;
  readonly #dir: string;
  readonly #counter: string;
  readonly #random: Random;
  readonly #maxResident: number | undefined;
  readonly #partitions: number;
  readonly #open = new Set<string>();
  readonly #started = new Set<string>();
  readonly #resumed = new Set<string>();
  readonly #decided = new Set<string>();
  readonly #ended = new Set<string>();
  deaths = 0;
  /** Steps that were found in doubt. */
  doubts = 0;

  constructor({ name, directory, seed, maxResident, partitions = 1 }: LaneOptions) {
    this.#name = name;
    this.#dir = join(directory, name);
    this.#counter = join(directory, `${name}.counter`);
    this.#random = seededRandom(seed);
    this.#maxResident = maxResident;
    this.#partitions = partitions;
    this.world = new OutsideWorld(this.#counter);
  }

  /** One host from its start to its death. */
  async round(number: number): Promise<void> {
    const ids = Array.from(
      { length: between(this.#random, 1, 3) },
      (_, i) => `${this.#name}-${number}-${number * 3 + i}`,
    );
    const death = this.#drawDeath();
    const where = `lane ${this.#name}, round ${number}, ${JSON.stringify(death)}`;
    this.ids.push(...ids);
    for (const id of ids) this.#open.add(id);
    const child = this.#host(
      ids,
      death.kind === "point" ? { point: death.point, count: death.count } : undefined,
    );
    if (death.kind === "moment") {
      await child.line((line) => line === "loaded");
      await Promise.race([delay(death.afterMs), child.ended]);
      child.kill("SIGKILL");
    }
    const { code, signal, stderr } = await child.ended;
    if (signal === "SIGKILL") this.deaths++;
    else
      expect({ code, stderr, last: child.lines.at(-1) }, where).toEqual({
        code: 0,
        stderr: "",
        last: "done",
      });
    await this.#check(child.lines, where);
  }

  /** A host that is left alone until nothing is open any more. Ids whose start was never acknowledged are started again. */
  async finish(more: readonly string[]): Promise<void> {
    this.ids.push(...more);
    for (const id of more) this.#open.add(id);
    const child = this.#host([...this.#open], undefined);
    const { code, signal, stderr } = await child.ended;
    expect({ code, signal, stderr }, `lane ${this.#name}, last run`).toEqual({
      code: 0,
      signal: null,
      stderr: "",
    });
    await this.#check(child.lines, `lane ${this.#name}, last run`);
    expect([...this.#open], "left over").toEqual([]);
  }

  /** How every execution ended. Fails where the log, its fold, its header and the outside world disagree. */
  async endings(): Promise<ReadonlyMap<string, Ending>> {
    const endings = new Map<string, Ending>();
    await this.#look(async ({ stores, runtime, start }) => {
      await start();
      for (const id of this.ids) {
        const events = await stores.eventStore.read(id);
        const state = await runtime.loadState(id);
        const header = await stores.eventStore.find(id);
        expect(header, id).toMatchObject({ status: state.status, sequence: events.length - 1 });
        expect(state.sequence, id).toBe(events.length - 1);
        for (const gate of Object.values(state.gates))
          expect(gate.status, `${id} ${gate.gateId}`).toBe("resolved");
        for (const { stepId, status, attempts } of Object.values(state.frames)) {
          const { started, finished } = this.world.runsOf(id, stepId)!;
          const where = `${id} ${stepId}`;
          expect(status, where).toBe("completed");
          expect(attemptsOf(events, stepId), where).toEqual(
            Array.from({ length: attempts }, (_, i) => i + 1),
          );
          expect(started.at(-1), where).toBe(attempts);
          expect(finished.at(-1), where).toBe(attempts);
          // What may not run twice runs again by a verdict alone.
          const reasons = retriesOf(events, stepId).map(({ reason }) => reason);
          if (stepId === "once")
            expect(new Set([...reasons, "verdict"]), where).toEqual(new Set(["verdict"]));
        }
        this.doubts += events.filter(({ type }) => type === "EFFECT_INDOUBT").length;
        endings.set(id, { status: state.status, output: state.variables["_output"], story: storyOf(events) });
      }
    });
    // Whatever was armed has fired or was called off.
    await this.#look(async ({ stores }) => {
      for (let i = 0; i < this.#partitions; i++) {
        expect(await (await stores.eventStore.open(i)).nextTimer(-Infinity)).toBeUndefined();
      }
    });
    return endings;
  }

  /** Opens the directory the way a program would. */
  async #look<T>(use: (app: LoomApp) => Promise<T>): Promise<T> {
    const app = defineConfig({ storage: lmdbStorage({ dir: this.#dir }), autostart: false });
    try {
      return await use(app);
    } finally {
      await app.close();
    }
  }

  #host(ids: readonly string[], die: { point: string; count: number } | undefined) {
    const options = {
      dir: this.#dir,
      ids,
      maxResident: this.#maxResident,
      partitions: this.#partitions,
    };
    return startChild(HOST, {
      args: [JSON.stringify(options)],
      env: { HEDDLE_TEST_COUNTER: this.#counter, HEDDLE_TEST_DEATH: die ? JSON.stringify(die) : "" },
    });
  }

  #drawDeath(): Death {
    if (this.#random() < 0.5) return { kind: "moment", afterMs: between(this.#random, 0, 160) };
    const { point, most } = pick(this.#random, POINTS);
    return { kind: "point", point, count: between(this.#random, 1, most) };
  }

  /** Holds what the child acknowledged, and what its effects did, against the log it left behind. */
  async #check(lines: readonly string[], where: string): Promise<void> {
    for (const line of lines) {
      const [what, id = ""] = line.split(" ");
      expect(what, `${where}: ${line}`).not.toMatch(/^(warning|storage)$/);
      if (what === "started") this.#started.add(id);
      if (what === "resumed") this.#resumed.add(id);
      if (what === "decided") this.#decided.add(id);
      if (what === "ended") this.#ended.add(id);
    }
    this.world.catchUp(where);
    await this.#look(async ({ stores }) => {
      for (const id of this.#open) await this.#checkLog(stores.eventStore, id, where);
    });
  }

  async #checkLog(store: EventStore, id: string, where: string): Promise<void> {
    const events = await store.read(id);
    const types = events.map(({ type }) => type);
    expect(
      events.map(({ sequence }) => sequence),
      `${where}: ${id} is dense`,
    ).toEqual(events.map((_, i) => i));
    if (this.#started.has(id))
      expect(types[0], `${where}: acknowledged start of ${id}`).toBe("EXECUTION_STARTED");
    if (this.#resumed.has(id)) expect(types, `${where}: acknowledged resume of ${id}`).toContain("Go");
    if (this.#decided.has(id))
      expect(isDecided(events), `${where}: acknowledged verdict on ${id}`).toBe(true);
    if (this.#ended.has(id))
      expect(types.at(-1), `${where}: reported end of ${id}`).toBe("EXECUTION_COMPLETED");
    for (const { type, payload } of events) {
      if (type === "STEP_COMPLETED") this.world.settle(id, (payload as { stepId: string }).stepId);
    }
    if (TERMINAL.has(types.at(-1) ?? "")) this.#open.delete(id);
  }
}

it(`C-LIF-01: ${ROUNDS} deaths by SIGKILL lose nothing, repeat nothing and change nothing (seed ${SEED})`, {
  timeout: 60_000 + ROUNDS * 1_000,
}, async () => {
  const directory = temporaryDirectory();
  // The second lane has several partitions and drops every run between its turns: there, each turn is a replay too.
  const lanes = [
    new Lane({ name: "kept", directory, seed: SEED }),
    new Lane({ name: "dropped", directory, seed: SEED + 1, maxResident: 0, partitions: 3 }),
  ];
  await Promise.all(
    lanes.map(async (lane, i) => {
      for (let round = i; round < ROUNDS; round += lanes.length) await lane.round(round);
      await lane.finish([]);
    }),
  );
  const undisturbed = new Lane({ name: "undisturbed", directory, seed: SEED });
  await undisturbed.finish(lanes.flatMap(({ ids }) => ids));
  const expected = await undisturbed.endings();
  for (const lane of lanes) {
    for (const [id, ending] of await lane.endings()) expect(ending, id).toEqual(expected.get(id));
  }
  // A test in which hardly anybody died, or nothing was in flight when somebody did, proves nothing.
  const deaths = lanes.reduce((sum, lane) => sum + lane.deaths, 0);
  const repeated = lanes.flatMap(({ world }) =>
    [...world.runs.values()].filter(({ started }) => started.length > 1),
  );
  expect(deaths, "deaths").toBeGreaterThan(ROUNDS * 0.6);
  const doubts = lanes.reduce((sum, lane) => sum + lane.doubts, 0);
  expect(doubts, "effects in doubt").toBeGreaterThan(ROUNDS * 0.03);
  expect(repeated.length, "effects cut short by a death").toBeGreaterThan(ROUNDS * 0.1);
});

interface Retry {
  readonly stepId: string;
  readonly attempt: number;
  readonly reason: string;
}

function retriesOf(events: readonly EventEnvelope[], stepId: string): Retry[] {
  return events
    .filter(({ type }) => type === "STEP_RETRIED")
    .map(({ payload }) => payload as Retry)
    .filter((retry) => retry.stepId === stepId);
}

/** Numbers of the attempts the log knows of. */
function attemptsOf(events: readonly EventEnvelope[], stepId: string): number[] {
  return [1, ...retriesOf(events, stepId).map(({ attempt }) => attempt)];
}

/** Whether a verdict stands behind a step that was in doubt. */
function isDecided(events: readonly EventEnvelope[]): boolean {
  const after = events.slice(events.findIndex(({ type }) => type === "EFFECT_INDOUBT") + 1);
  return after.some(({ payload }) => (payload as { stepId?: string }).stepId === "once");
}

/**
 * What an execution's log says, less what a crash may leave in it: repeated attempts and what these emitted, doubts, times,
 * the order of branches.
 */
function storyOf(events: readonly EventEnvelope[]): string[] {
  return events
    .filter(({ type }) => type !== "STEP_RETRIED" && type !== "EFFECT_INDOUBT" && type !== "second.seen")
    .map(({ type, payload }) => {
      const { wakeAt: _, ...said } = payload as Record<string, unknown>;
      return `${type} ${JSON.stringify(said)}`;
    })
    .sort();
}
