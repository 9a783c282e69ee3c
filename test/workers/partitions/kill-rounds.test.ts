// C-LIF-01 in threads, the short form of test/crash: hosts with two partition threads over four partitions are killed at
// random moments and at named points, or one of their threads ends by itself; then one is left alone until nothing is open.
//
// What the effects did is counted outside, past the log. KILL_ROUNDS and SEED make it longer and other.

import { join } from "node:path";
import { defineConfig, type EventStore, lmdbStorage } from "heddle";
import { expect, it } from "vitest";
import { type Child, startChild } from "../../crash/child.js";
import { OutsideWorld } from "../../crash/outside-world.js";
import { between, pick, seededRandom } from "../../crash/random.js";
import { temporaryDirectory } from "./world.js";

const ROUNDS = Number(process.env["KILL_ROUNDS"] ?? 24);
const SEED = Number(process.env["SEED"] ?? Date.now() % 1_000_000);
const HOST = new URL("../../crash/programs/mixed-host.mjs", import.meta.url);

interface Retry {
  readonly stepId: string;
  readonly reason: string;
}

it(`C-LIF-01: ${ROUNDS} deaths of processes and threads lose nothing, repeat nothing and change nothing (seed ${SEED})`, {
  timeout: 60_000 + ROUNDS * 2_000,
}, async () => {
  const random = seededRandom(SEED);
  const directory = temporaryDirectory();
  const dir = join(directory, "log");
  const counter = join(directory, "counter");
  const world = new OutsideWorld(counter);
  const all: string[] = [];
  const open = new Set<string>();
  const started = new Set<string>();
  let [deaths, restarts] = [0, 0];

  const host = (ids: readonly string[], death: object | undefined): Child => {
    const options = { dir, ids, partitions: 4, actors: 2, maxResident: between(random, 0, 1) * 10_000 };
    return startChild(HOST, {
      args: [JSON.stringify(options)],
      env: { HEDDLE_TEST_COUNTER: counter, HEDDLE_TEST_DEATH: death ? JSON.stringify(death) : "" },
    });
  };
  const check = async (child: Child, where: string): Promise<void> => {
    for (const line of child.lines) {
      const [what, id = ""] = line.split(" ");
      expect(what, `${where}: ${line}`).not.toBe("storage");
      if (what === "started") started.add(id);
      if (what === "warning") {
        expect(line, where).toMatch(/The thread of partitions .* (ended|could not be started again)/);
        restarts++;
      }
    }
    world.catchUp(where);
    const app = defineConfig({ storage: lmdbStorage({ dir }), autostart: false });
    for (const id of open) await checkLog(app.stores.eventStore, id, where);
    await app.close();
  };
  const checkLog = async (store: EventStore, id: string, where: string): Promise<void> => {
    const events = await store.read(id);
    expect(
      events.map(({ sequence }) => sequence),
      `${where}: ${id}`,
    ).toEqual(events.map((_, i) => i));
    if (started.has(id)) expect(events[0]?.type, `${where}: acknowledged ${id}`).toBe("EXECUTION_STARTED");
    for (const { type, payload } of events) {
      if (type === "STEP_COMPLETED") world.settle(id, (payload as { stepId: string }).stepId);
    }
    if (events.at(-1)?.type === "EXECUTION_COMPLETED") open.delete(id);
  };

  for (let round = 0; round < ROUNDS; round++) {
    const ids = [0, 1, 2].map((i) => `round-${round}-${round * 3 + i}`);
    all.push(...ids);
    for (const id of ids) open.add(id);
    const kind = pick(random, ["moment", "process", "thread"] as const);
    const point = pick(random, ["effectStarted", "effectFinished", "once started", "once finished"] as const);
    const death =
      kind === "moment"
        ? undefined
        : {
            kind,
            point,
            count: between(random, 1, point.startsWith("once") ? 2 : 12),
            once: join(directory, `once-${round}`),
          };
    const where = `round ${round}, seed ${SEED}, ${JSON.stringify(death ?? kind)}`;
    const child = host(ids, death);
    if (!death) {
      await child.line((line) => line === "loaded");
      await new Promise((resolve) => setTimeout(resolve, between(random, 0, 400)));
      child.kill("SIGKILL");
    }
    const { code, signal, stderr } = await child.ended;
    if (signal === "SIGKILL") deaths++;
    else expect({ code, stderr }, where).toEqual({ code: 0, stderr: "" });
    await check(child, where);
  }
  const last = host(
    [...open].filter((id) => !started.has(id)),
    undefined,
  );
  const { code, signal, stderr } = await last.ended;
  expect({ code, signal, stderr }, `the last run, seed ${SEED}`).toEqual({
    code: 0,
    signal: null,
    stderr: "",
  });
  await check(last, `the last run, seed ${SEED}`);
  expect([...open]).toEqual([]);

  // Outputs depend on inputs alone, so they are what they would be without any death.
  const app = defineConfig({ storage: lmdbStorage({ dir }), autostart: false });
  for (const id of all) {
    const n = Number(id.split("-").at(-1));
    const events = await app.stores.eventStore.read(id);
    // What may not run twice runs again by a verdict alone.
    const repeats = events.filter(
      ({ type, payload }) => type === "STEP_RETRIED" && (payload as Retry).stepId === "once",
    );
    for (const { payload } of repeats) expect((payload as Retry).reason, id).toBe("verdict");
    const b = (n + 1) * 3;
    expect((events.at(-1)?.payload as { output: unknown }).output, id).toEqual({
      n,
      a: n + 1,
      b,
      parts: [0, 1, 2, 3, 4].map((i) => b * 10 + i),
      route: n % 2 === 0 ? "even" : "odd",
      c: b + 7,
      d: b + 6,
      e: b + 107,
      word: `word of ${id}`,
    });
  }
  await app.close();
  expect(deaths, "deaths of processes").toBeGreaterThan(ROUNDS * 0.3);
  expect(restarts, "deaths of threads").toBeGreaterThan(0);
});
