// Goal: every cell of the crash matrix, by a real death at a named point (C1 to C8; C-LIF-01 with effects that may not run twice).
// Method: a host starts four executions in one batch, one with an idempotent effect and three with one that is not, and kills
// itself with SIGKILL. What it left is read from the log and from the outside world, to which effects write with fsync. Then
// a second host takes the directory up: it says what it finds in doubt, gives each doubt the verdict its execution is named
// after, and works until nothing is open. What it did in the world is held against what the log says.

import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  defineConfig,
  type EventEnvelope,
  type ExecutionState,
  lmdbStorage,
  type SnapshotStore,
} from "../../src/index.js";
import { temporaryDirectory } from "../support/temporary-directory.js";
import { type Child, startChild } from "./child.js";
import {
  type Answer,
  type Death,
  EFFECTS,
  type EffectClass,
  type Left,
  MATRIX,
  PLACES,
  type Place,
  POINTS,
  type Point,
} from "./matrix.js";
import { OutsideWorld } from "./outside-world.js";
import { refuseWhileStopped } from "./stopped-owner.js";

const HOST = new URL("./programs/matrix-host.mjs", import.meta.url);
const IDS = ["again", "once-outcome", "once-fail", "once-retry"] as const;
type Id = (typeof IDS)[number];

const effectOf = (id: Id): EffectClass => (id === "again" ? "idempotent" : "not idempotent");

describe("the table", () => {
  it("has one answer for every point, effect and place, and no other", () => {
    const wanted = POINTS.flatMap(({ name, places }) =>
      EFFECTS.flatMap((effect) => places.map((place) => `${name} / ${effect} / ${place}`)),
    );
    const given = MATRIX.flatMap(({ point, effect, answers }) =>
      PLACES.filter((place) => answers[place]).map((place) => `${point} / ${effect} / ${place}`),
    );
    expect(given.sort()).toEqual(wanted.sort());
    expect(new Set(given).size).toBe(given.length);
    for (const { point, answers } of MATRIX) {
      const left = POINTS.find(({ name }) => name === point)?.left.length;
      for (const each of Object.values(answers)) expect(each, point).toHaveLength(left ?? 0);
    }
    expect(new Set(POINTS.map(({ label }) => label)).size).toBe(8);
  });
});

const scenarios = POINTS.flatMap((point) =>
  point.places.map((place) => ({ point, place, title: `${point.label} ${point.name}, ${place}` })),
);

describe("a host that is killed", () => {
  it.each(scenarios)("$title", { timeout: 60_000 }, async ({ point, place }) => {
    const stage = new Stage(place);
    await stage.die(point);
    const left = await stage.look();
    // C2: of what was handed over together, all or nothing.
    const found = new Set([...left.values()].map((sight) => sight.left));
    expect(found.size).toBe(1);
    expect(point.left).toContain([...found][0]);
    const told = await stage.recover();
    const after = await stage.look();
    for (const id of IDS) {
      const cell = { id, before: left.get(id)!, told: told.get(id)!, after: after.get(id)! };
      CHECKS[answerFor(point, place, id, cell.before.left)](cell);
    }
    await stage.checkStates();
  });
});

/** What can be seen of an execution from outside: in its log, and in the world. */
interface Sight {
  readonly left: Left;
  readonly types: readonly string[];
  /** Attempts of `pay` that began. */
  readonly starts: readonly number[];
}

type Sights = ReadonlyMap<Id, Sight>;

/** What the recovering host said of it. */
interface Told {
  readonly started: boolean;
  readonly parked: Line | undefined;
  readonly ended: Line | undefined;
}

/** A directory, the world outside of it, and the hosts that live and die there. */
class Stage {
  readonly #dir: string;
  readonly #file: string;
  readonly #place: Place;
  readonly #world: OutsideWorld;

  constructor(place: Place) {
    const root = temporaryDirectory();
    this.#dir = join(root, "log");
    this.#file = join(root, "world");
    this.#place = place;
    this.#world = new OutsideWorld(this.#file);
  }

  async die({ death, second, begun }: Point): Promise<void> {
    await this.#kill(death);
    if (second) await this.#kill(second);
    this.#world.catchUp("at its death");
    if (begun === undefined) return;
    for (const id of IDS) expect(this.#starts(id), `starts of ${id}`).toHaveLength(begun);
  }

  async #kill(death: Death): Promise<void> {
    const host = this.#host(death);
    if (death.then === "hold") await refuseWhileStopped(host, () => this.#host(undefined));
    const { signal, stderr } = await host.ended;
    expect({ signal, stderr, lines: host.lines }).toMatchObject({ signal: "SIGKILL", stderr: "" });
    // Whoever was told of a start finds it in the log: acknowledged is durable.
    const acknowledged = host.lines.map(parse).filter(({ what }) => what === "started");
    const sights = await this.look();
    for (const { id } of acknowledged) expect(sights.get(id as Id)?.types, id).toContain("EXECUTION_STARTED");
    if (death.point === "held" && !death.then && death.event?.includes("EXECUTION_STARTED"))
      expect(acknowledged).toEqual([]);
  }

  /** Everything is taken up, decided and finished. */
  async recover(): Promise<ReadonlyMap<Id, Told>> {
    const host = this.#host(undefined);
    expect(await host.ended).toMatchObject({ code: 0, signal: null, stderr: "" });
    const lines = host.lines.map(parse);
    expect(lines.at(-1)).toEqual({ what: "done" });
    expect(lines.filter(({ what }) => what === "warning" || what === "storage")).toEqual([]);
    return new Map(
      IDS.map((id) => {
        const of = (what: string) => lines.find((line) => line.what === what && line.id === id);
        return [id, { started: of("started") !== undefined, parked: of("parked"), ended: of("ended") }];
      }),
    );
  }

  async look(): Promise<Sights> {
    this.#world.catchUp("outside");
    const app = defineConfig({ storage: lmdbStorage({ dir: this.#dir }), autostart: false });
    const seen = new Map<Id, Sight>();
    try {
      for (const id of IDS) {
        const events = await app.stores.eventStore.read(id);
        expect(
          events.map(({ sequence }) => sequence),
          `${id} is dense`,
        ).toEqual(events.map((_, i) => i));
        seen.set(id, {
          left: leftOf(events),
          types: events.map(({ type }) => type),
          starts: [...this.#starts(id)],
        });
      }
    } finally {
      await app.close();
    }
    return seen;
  }

  /** C7: what a state is read from makes no difference, snapshots or the whole log. */
  async checkStates(): Promise<void> {
    const nothing = { save: async () => {}, load: async () => undefined, delete: async () => {} };
    expect(await this.#states()).toEqual(await this.#states(nothing));
  }

  async #states(snapshotStore?: SnapshotStore): Promise<ExecutionState[]> {
    const built = defineConfig({ storage: lmdbStorage({ dir: this.#dir }), autostart: false });
    const storage = { kind: "custom", ...built.stores, ...(snapshotStore && { snapshotStore }) } as const;
    const app = defineConfig({ storage });
    const states = await Promise.all(IDS.map((id) => app.runtime.loadState(id)));
    await app.close();
    await built.close();
    return states;
  }

  #starts(id: Id): readonly number[] {
    return this.#world.runsOf(id, "pay")?.started ?? [];
  }

  #host(die: Death | undefined): Child {
    const isPooled = this.#place.includes("pooled");
    const threads = this.#place.includes("thread");
    const options = { dir: this.#dir, ids: IDS, pooled: isPooled, threads, die };
    const world = { file: this.#file, calls: IDS.length, die };
    return startChild(HOST, {
      args: [JSON.stringify(options)],
      env: { HEDDLE_MATRIX: JSON.stringify(world), HEDDLE_MATRIX_POOLED: isPooled ? "1" : "" },
    });
  }
}

interface Line {
  readonly what: string;
  readonly frame?: unknown;
  readonly status?: string;
  readonly output?: unknown;
  readonly attempts?: number;
  readonly id?: string;
  readonly code?: string;
}

function parse(line: string): Line {
  return line === "holding" ? { what: line } : (JSON.parse(line) as Line);
}

function leftOf(events: readonly EventEnvelope[]): Left {
  if (events.length === 0) return "nothing";
  const isPaid = ({ type, payload }: EventEnvelope): boolean =>
    type === "STEP_COMPLETED" && (payload as { stepId: string }).stepId === "pay";
  return events.some(isPaid) ? "outcome" : "request";
}

function answerFor(point: Point, place: Place, id: Id, left: Left): Answer {
  const row = MATRIX.find((each) => each.point === point.name && each.effect === effectOf(id));
  return row!.answers[place]![point.left.indexOf(left)]!;
}

interface Cell {
  readonly id: Id;
  readonly before: Sight;
  readonly told: Told;
  readonly after: Sight;
}

const CHECKS: { readonly [A in Answer]: (cell: Cell) => void } = {
  "starts anew": ({ id, told, after }) => {
    expect(told, id).toMatchObject({ started: true, parked: undefined });
    expect(told.ended, id).toMatchObject({ status: "completed", attempts: 1, output: paid(1) });
    expect(after.starts, id).toEqual([1]);
    expect(after.types, id).not.toContain("STEP_RETRIED");
  },
  "runs again": ({ id, before, told, after }) => {
    expect(told, id).toMatchObject({ started: false, parked: undefined });
    const attempts = told.ended?.attempts ?? 0;
    expect(attempts, id).toBeGreaterThan(1);
    expect(told.ended, id).toMatchObject({ status: "completed", output: paid(attempts) });
    expect(after.starts, id).toEqual([...before.starts, attempts]); // and under one key: OutsideWorld, W1
  },
  "waits in doubt": ({ id, before, told, after }) => {
    expect(told, id).toMatchObject({ started: false, parked: { frame: { status: "inDoubt", attempts: 1 } } });
    expect(
      after.types.filter((type) => type === "EFFECT_INDOUBT"),
      id,
    ).toHaveLength(1);
    const repeated = id === "once-retry" ? [2] : [];
    expect(after.starts, id).toEqual([...before.starts, ...repeated]);
    expect(told.ended, id).toEqual({
      ...told.ended,
      status: "completed",
      attempts: 1 + repeated.length,
      output: {
        ...paid(2),
        ...(id === "once-outcome" && { paid: "found out" }),
        ...(id === "once-fail" && { paid: "never arrived" }),
      },
    });
  },
  "is served": ({ id, before, told, after }) => {
    expect(told, id).toMatchObject({ started: false, parked: undefined });
    expect(told.ended, id).toMatchObject({ status: "completed", attempts: 1, output: paid(1) });
    expect(after.starts, id).toEqual(before.starts);
    expect(
      after.types.filter((type) => type === "EFFECT_INDOUBT"),
      id,
    ).toEqual([]);
  },
};

const paid = (attempt: number) => ({ paid: `paid in attempt ${attempt}`, noted: "noted" });
