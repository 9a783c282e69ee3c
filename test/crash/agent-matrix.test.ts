// Goal: an agent of three turns with two calls each, one approved and one refused, whose host is killed wherever it can be: when any
// event of its log is durable, and at C1 to C8 of any commit and any effect (style of ./matrix.ts). The next host makes the calls
// that are left and no other, and the conversation is the same to the last character.
// Method: real children over real directories. What effects and the policy did is written by them into files, with fsync; what was
// left is read from the log. Calls with an outcome there must not begin again, all others must begin exactly once.
//
// A short form runs by default: some cells of every kind. All of them, some three minutes:
//
//   HEDDLE_AGENT_MATRIX=full npx vitest run test/crash/agent-matrix.test.ts

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { defineConfig, type EventEnvelope, lmdbStorage } from "../../src/index.js";
import { temporaryDirectory } from "../support/temporary-directory.js";
import { type Child, type ChildEnd, startChild } from "./child.js";
import { OutsideWorld } from "./outside-world.js";
import { refuseWhileStopped } from "./stopped-owner.js";

const HOST = new URL("./programs/agent-host.mjs", import.meta.url);
const IS_FULL = process.env["HEDDLE_AGENT_MATRIX"] === "full";
const LOOP = "agent:clerk";

/** What an undisturbed run writes; the first test holds it. */
const LOG = [
  "EXECUTION_STARTED",
  // What the agent begins with.
  "DECISION_RECORDED",
  // The first turn: one call runs freely, one is approved.
  "STEP_STARTED",
  "STEP_COMPLETED",
  "DECISION_RECORDED",
  "DECISION_RECORDED",
  "EXECUTION_SUSPENDED",
  "AgentToolApproval",
  "EXECUTION_RESUMED",
  "STEP_STARTED",
  "STEP_COMPLETED",
  "STEP_STARTED",
  "STEP_COMPLETED",
  // The second: one is refused, one runs.
  "STEP_STARTED",
  "STEP_COMPLETED",
  "DECISION_RECORDED",
  "DECISION_RECORDED",
  "EXECUTION_SUSPENDED",
  "AgentToolApproval",
  "EXECUTION_RESUMED",
  "STEP_STARTED",
  "STEP_COMPLETED",
  // The third: both run.
  "STEP_STARTED",
  "STEP_COMPLETED",
  "DECISION_RECORDED",
  "STEP_STARTED",
  "STEP_COMPLETED",
  "STEP_STARTED",
  "STEP_COMPLETED",
  // The answer.
  "STEP_STARTED",
  "STEP_COMPLETED",
  "EXECUTION_COMPLETED",
];
const BATCHES = 16;

const STEPS = [
  `${LOOP}#turn:0`,
  `${LOOP}#turn:0:tool:0`,
  `${LOOP}#turn:0:tool:1`,
  `${LOOP}#turn:1`,
  `${LOOP}#turn:1:tool:1`,
  `${LOOP}#turn:2`,
  `${LOOP}#turn:2:tool:0`,
  `${LOOP}#turn:2:tool:1`,
  `${LOOP}#turn:3`,
];
const ASKED = ["c0", "c1", "c2", "c3", "c4", "c5"];

interface Death {
  readonly sequence?: number;
  readonly passed?: string;
  readonly point?: string;
  readonly nth?: number;
  readonly count?: number;
  readonly spinUs?: number;
  readonly then?: "hold";
}

interface Cell {
  readonly title: string;
  /** One host after the other. The one after the last of them lives. */
  readonly deaths: readonly Death[];
  /** In the short form. */
  readonly isShort: boolean;
}

const commit = (point: string, nth: number): Death => ({
  point,
  nth,
  ...(point === "inCommit" && { spinUs: 50 }),
});
const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);
const running: Death = { passed: `${LOOP}#turn:1:tool:1 started` };

const CELLS: readonly Cell[] = [
  ...numbers(LOG.length).map((sequence) => ({
    title: `event ${sequence} (${LOG[sequence]}) is durable`,
    deaths: [{ sequence }],
    isShort: sequence % 12 === 10,
  })),
  ...(
    [
      ["C1", "held"],
      ["C2", "inCommit"],
      ["C3", "visible"],
      ["C4 or C6", "durable"],
    ] as const
  ).flatMap(([label, point], kind) =>
    numbers(BATCHES).map((n) => ({
      title: `${label}: commit ${n} is ${point}`,
      deaths: [commit(point, n + 1)],
      isShort: n === 3 + 3 * kind,
    })),
  ),
  ...STEPS.flatMap((stepId, n) =>
    ["started", "finished"].map((moment, m) => ({
      title: `C5: ${stepId} has ${moment}`,
      deaths: [{ passed: `${stepId} ${moment}` }],
      isShort: n === 3 + 4 * m,
    })),
  ),
  ...["held", "visible", "durable"].flatMap((point, kind) =>
    numbers(4).map((n) => ({
      title: `C7: commit ${n} of the recovery is ${point}`,
      deaths: [running, commit(point, n + 1)],
      isShort: n === kind && kind < 2,
    })),
  ),
  ...numbers(4).map((n) => ({
    title: `C7: snapshot ${n} is handed over`,
    deaths: [{ point: "snapshot", count: n + 1 }],
    isShort: n === 2,
  })),
  {
    title: "C7: host after host dies in the same call",
    deaths: [running, running, running],
    isShort: false,
  },
  ...numbers(BATCHES)
    .filter((n) => n % 6 === 3)
    .map((n) => ({
      title: `C8: commit ${n} is held while another host wants the directory`,
      deaths: [{ ...commit("held", n + 1), then: "hold" as const }],
      isShort: n === 9,
    })),
];

describe("an agent whose host is killed", () => {
  it("left alone writes the log the cells are made of", async () => {
    const stage = new Stage();
    const { events, batches } = await stage.live();
    expect(events.map(({ type }) => type)).toEqual(LOG);
    expect(batches).toBe(BATCHES);
    expect(stage.starts()).toEqual(STEPS);
    expect(stage.asked()).toEqual(ASKED);
  });

  it.each(CELLS.filter(({ isShort }) => IS_FULL || isShort))(
    "$title",
    { timeout: 60_000 },
    async ({ deaths }) => {
      const stage = new Stage();
      for (const death of deaths) await stage.die(death);
      await stage.checkRecovery();
    },
  );

  it("would be caught at doing again what its log says is done", async () => {
    const stage = new Stage({ careless: true });
    await stage.die({ sequence: LOG.lastIndexOf("STEP_STARTED") });
    await expect(stage.checkRecovery()).rejects.toThrow("started again after its outcome was recorded");
  });
});

let undisturbed: Promise<unknown> | undefined;

/** A directory, the world outside of it, and the hosts that live and die there. */
class Stage {
  readonly #dir: string;
  readonly #worldFile: string;
  readonly #policyFile: string;
  readonly #world: OutsideWorld;
  readonly #more: object;

  constructor(more: object = {}) {
    const root = temporaryDirectory();
    this.#dir = join(root, "log");
    this.#worldFile = join(root, "world");
    this.#policyFile = join(root, "policy");
    this.#world = new OutsideWorld(this.#worldFile);
    this.#more = more;
  }

  async die(death: Death): Promise<void> {
    const host = this.#host(death);
    if (death.then === "hold") await refuseWhileStopped(host, () => this.#host(undefined));
    const end = await host.ended;
    expect(end.signal, describeEnd(end)).toBe("SIGKILL");
    this.#world.catchUp("at its death");
    for (const stepId of settledIn(await this.#events())) this.#world.settle("x", stepId);
  }

  /** The host that lives makes what is left, and what it leads to is what it always leads to. */
  async checkRecovery(): Promise<void> {
    const left = await this.#events();
    const settled = settledIn(left);
    const startsBefore = this.starts().length;
    const askedBefore = this.asked().length;
    const { events } = await this.live();
    this.#world.catchUp("after the recovery");
    expect(this.starts().slice(startsBefore)).toEqual(STEPS.filter((stepId) => !settled.has(stepId)));
    expect(this.asked().slice(askedBefore)).toEqual(ASKED.slice(decidedTurnsIn(left) * 2));
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, i) => i));
    expect(outputOf(events)).toEqual(
      await (undisturbed ??= new Stage().live().then((run) => outputOf(run.events))),
    );
    // Whatever came in between, each step has one outcome and each gate one answer.
    const outcomes = events.filter(({ type }) => type === "STEP_COMPLETED").map(stepIdOf);
    expect(outcomes).toEqual(STEPS);
    expect(events.filter(({ type }) => type === "AgentToolApproval")).toHaveLength(2);
  }

  async live(): Promise<{ readonly events: readonly EventEnvelope[]; readonly batches: number }> {
    const host = this.#host(undefined);
    const end = await host.ended;
    expect(end, describeEnd(end)).toMatchObject({ code: 0, signal: null, stderr: "" });
    const lines = host.lines.map(parse);
    expect(lines).toEqual([{ what: "ended", batches: expect.any(Number) as unknown }]);
    return { events: await this.#events(), batches: Number(lines[0]!["batches"]) };
  }

  /** The steps that effects began, in the order in which they did. */
  starts(): string[] {
    return linesOf(this.#worldFile)
      .map((line) => JSON.parse(line) as { readonly moment: string; readonly stepId: string })
      .flatMap(({ moment, stepId }) => (moment === "start" ? [stepId] : []));
  }

  /** The calls the policy was asked about. */
  asked(): string[] {
    return linesOf(this.#policyFile).map((line) => JSON.parse(line) as string);
  }

  async #events(): Promise<readonly EventEnvelope[]> {
    const app = defineConfig({ storage: lmdbStorage({ dir: this.#dir }), autostart: false });
    try {
      return await app.stores.eventStore.read("x");
    } finally {
      await app.close();
    }
  }

  #host(die: Death | undefined): Child {
    const files = { dir: this.#dir, world: this.#worldFile, policy: this.#policyFile };
    return startChild(HOST, { args: [JSON.stringify({ ...files, die, ...this.#more })] });
  }
}

type Line = Readonly<Record<string, unknown>>;

function parse(line: string): Line {
  return JSON.parse(line) as Line;
}

const describeEnd = (end: ChildEnd): string => JSON.stringify(end);

function linesOf(path: string): string[] {
  return readFileSync(path, "utf8").split("\n").filter(Boolean);
}

/** The steps that have an outcome. */
function settledIn(events: readonly EventEnvelope[]): ReadonlySet<string> {
  return new Set(events.filter(({ type }) => type === "STEP_COMPLETED").map(stepIdOf));
}

/** How many turns the policy was asked about whose answers are in the log. */
function decidedTurnsIn(events: readonly EventEnvelope[]): number {
  return events.filter(
    ({ type, payload }) =>
      type === "DECISION_RECORDED" &&
      (payload as { readonly decisionId: string }).decisionId.endsWith(":approvals"),
  ).length;
}

function stepIdOf({ payload }: EventEnvelope): string {
  return (payload as { readonly stepId: string }).stepId;
}

function outputOf(events: readonly EventEnvelope[]): unknown {
  return (events.at(-1)?.payload as { readonly output: unknown }).output;
}
