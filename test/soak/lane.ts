// Lane: hosts that live and die on one directory after the other, and what is held against what they leave.
//
// L1  What was acknowledged is in the log that is found afterwards: starts, answers, verdicts, cancellations, ends.
// L2  A log is dense, and agrees with its header and its fold.
// L3  Effects obey the rules of the outside world (../crash/outside-world.ts): a step that is recorded as done never begins again.
//     Within one life of a host the log tells: it knows every attempt that was made, and none comes after the outcome.
// L4  A step that may not repeat runs again by a verdict alone.
// L5  In the end every execution has come to what it must come to, its log tells what it tells when nobody disturbs it, and no timer
//     is left.

import assert from "node:assert/strict";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { EventEnvelope } from "../../src/index.js";
import { type Child, liftFileLimit, startChild } from "../crash/child.js";
import type { OutsideWorld } from "../crash/outside-world.js";
import { pick, type Random, seededRandom } from "../crash/random.js";
import { expectedOf, idOf } from "./expected.js";
import { ACKNOWLEDGED, hasEnded, isRepeatedWhenDone, retriesOf, storyOf } from "./log-claims.js";
import { Place } from "./place.js";
import { drawRound, type Round } from "./schedule.js";
import { emptyTally, type Tally } from "./tally.js";

const HOST = new URL("./programs/soak-host.mjs", import.meta.url);
const ROUNDS_A_DIRECTORY = 20;
/** All that a host may warn of, and only where it has partition threads. */
const THREAD_ENDED = /^warning The thread of partitions? .* (ended|could not be started again)/;

export interface LaneOptions {
  readonly name: string;
  readonly root: string;
  readonly seed: number;
  /** Default: `drawRound`. */
  readonly draw?: (random: Random) => Round;
  /** Of every directory. Default: drawn. */
  readonly partitions?: number;
}

export class Lane {
  readonly tally: Tally = emptyTally();
  readonly #name: string;
  readonly #root: string;
  readonly #random: Random;
  readonly #draw: (random: Random) => Round;
  readonly #partitions: number | undefined;
  #number = 0;
  #place: Place;

  constructor({ name, root, seed, draw = drawRound, partitions }: LaneOptions) {
    this.#name = name;
    this.#root = root;
    this.#random = seededRandom(seed);
    this.#draw = draw;
    this.#partitions = partitions;
    this.#place = this.#newPlace();
  }

  /** One host from its start to its death, and what it left. */
  async round(): Promise<void> {
    if (this.#place.rounds === ROUNDS_A_DIRECTORY) await this.finish();
    const round = this.#draw(this.#random);
    const place = this.#place;
    const ids = round.starts.map((kind) => idOf(this.#name, kind, this.#number++));
    const where = `lane ${this.#name}, directory ${place.dir}, round ${place.rounds}, ${JSON.stringify(round)}`;
    place.rounds++;
    for (const id of ids) place.open.add(id);
    const hosts = await this.#suffer(round, ids);
    this.tally.rounds++;
    this.tally.faults[round.fault.kind]++;
    for (const { lines } of hosts) this.#hear(place, lines, round, where);
    await this.#check(place, where);
  }

  /** Lets everything of the directory come to its end, holds it against what it must come to, and goes on in a new one. */
  async finish(): Promise<void> {
    const place = this.#place;
    await this.#finishHost(place);
    const stories = await this.#checkEndings(place);
    this.tally.directories++;
    this.tally.executions += stories.size;
    const calm = new Place(`${place.dir}-undisturbed`, place.partitions, place.sync);
    for (const id of place.ended) calm.open.add(id);
    await this.#finishHost(calm);
    const undisturbed = await this.#checkEndings(calm);
    for (const [id, story] of stories) assert.deepEqual(story, undisturbed.get(id), `${id}: its log (L5)`);
    place.remove();
    calm.remove();
    this.#place = this.#newPlace();
  }

  /** A host that is left alone until nothing is left. Ids whose start was never acknowledged are started again. */
  async #finishHost(place: Place): Promise<void> {
    const where = `lane ${this.#name}, directory ${place.dir}, last host`;
    const host = this.#host({ place, ids: [...place.open], actors: 0, pool: false, maxResident: undefined });
    await this.#endOf(host, where);
    this.#hear(place, host.lines, undefined, where);
    await this.#check(place, where);
    assert.deepEqual([...place.open], [], `${where}: left over`);
  }

  // ── Hosts ─────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Does to hosts what the round says; resolves when all of them have ended. */
  async #suffer(round: Round, ids: readonly string[]): Promise<Child[]> {
    const { fault } = round;
    const where = JSON.stringify(round);
    const start = (more: Partial<HostOptions> = {}): Child => this.#host({ ...round, ids, ...more });
    switch (fault.kind) {
      case "none": {
        const host = start();
        await this.#endOf(host, where);
        return [host];
      }
      case "moment": {
        const host = start();
        await this.#killAfter(host, fault.afterMs, where);
        return [host];
      }
      case "point":
      case "thread": {
        const { kind, point, count } = fault;
        const once = join(this.#root, `${this.#name}.death`);
        rmSync(once, { force: true });
        const host = start({
          death: { point, count, ...(kind === "thread" && { kind: "thread", once }) },
        });
        await this.#endOf(host, where);
        return [host];
      }
      case "stop": {
        const host = start();
        await Promise.race([host.line((line) => line === "opened"), host.ended]);
        await Promise.race([delay(fault.afterMs), host.ended]);
        host.kill("SIGSTOP");
        const second = start({ ids: [] });
        await Promise.all([this.#endOf(second, where), delay(fault.forMs)]);
        host.kill("SIGCONT");
        await this.#killAfter(host, fault.goesOnMs, where);
        return [host, second];
      }
      case "twins": {
        const middle = Math.ceil(ids.length / 2);
        const hosts = [start({ ids: ids.slice(0, middle) }), start({ ids: ids.slice(middle) })];
        await Promise.all(hosts.map((host) => this.#killAfter(host, fault.afterMs, where)));
        return hosts;
      }
      case "full": {
        const host = start({ roomKiB: fault.roomKiB });
        await Promise.race([host.line((line) => line === "opened"), host.ended]);
        await Promise.race([delay(fault.fullMs), host.ended]);
        liftFileLimit(host.pid);
        await this.#killAfter(host, fault.goesOnMs, where, true);
        if (host.lines.some((line) => /^(storage|refused) /.test(line))) this.tally.full++;
        return [host];
      }
    }
  }

  async #killAfter(host: Child, afterMs: number, where: string, isFull = false): Promise<void> {
    await Promise.race([host.line((line) => line === "loaded"), host.ended]);
    await Promise.race([delay(afterMs), host.ended]);
    host.kill("SIGKILL");
    await this.#endOf(host, where, isFull);
  }

  /** It died by SIGKILL, or it was done, or the directory was another one's. */
  async #endOf(host: Child, where: string, isFull = false): Promise<void> {
    const { code, signal, stderr } = await host.ended;
    if (signal === "SIGKILL") {
      this.tally.kills++;
      return;
    }
    const last = host.lines.at(-1);
    const isNoRoom = last === "refused STORAGE_FAILED" && isFull; // not even the tables fit
    if (last === "refused PARTITION_LOCKED") this.tally.refused++;
    else if (!isNoRoom && (last !== "done" || code !== 0))
      assert.fail(`${where}: a host ended with ${code ?? signal} after "${last}".\n${stderr}`);
    assert.equal(stderr, "", `${where}: a host wrote to stderr`);
  }

  #host({ place = this.#place, ids, actors, pool, maxResident, death, roomKiB }: HostOptions): Child {
    const { dir, counter, partitions, sync } = place;
    const options = { dir, partitions, sync, ids, actors: Math.min(actors, partitions), pool, maxResident };
    return startChild(HOST, {
      args: [JSON.stringify(options)],
      env: {
        HEDDLE_TEST_COUNTER: counter,
        HEDDLE_TEST_DEATH: death ? JSON.stringify(death) : "",
        HEDDLE_SOAK_POOL: pool ? "1" : "",
      },
      ...(roomKiB !== undefined && { before: place.limitedTo(roomKiB) }),
    });
  }

  // ── What they leave ───────────────────────────────────────────────────────────────────────────────────────────

  #newPlace(): Place {
    const name = `${this.#name}-${this.tally.directories}`;
    const partitions = this.#partitions ?? pick(this.#random, [1, 1, 3]);
    const sync = this.#random() < 0.7 ? "flush" : "commit";
    mkdirSync(this.#root, { recursive: true });
    return new Place(join(this.#root, name), partitions, sync);
  }

  /** L1, L2, L3 */
  async #check(place: Place, where: string): Promise<void> {
    this.tally.effects += place.world.catchUp(where);
    await place.look(async ({ stores }) => {
      for (const id of place.open) {
        const events = await stores.eventStore.read(id);
        const positions = events.map(({ sequence }) => sequence);
        assert.deepEqual(positions, [...positions.keys()], `${where}: ${id} is dense (L2)`);
        for (const what of place.acknowledged.get(id) ?? []) {
          assert.ok(
            ACKNOWLEDGED[what]!(events),
            `${where}: "${what} ${id}" was acknowledged and is lost (L1)`,
          );
          this.tally.acknowledged++;
        }
        for (const { type, payload } of events) {
          if (type === "STEP_COMPLETED") place.world.settle(id, (payload as { stepId: string }).stepId);
        }
        if (!hasEnded(events)) continue;
        place.open.delete(id);
        place.ended.push(id);
      }
    });
  }

  /** L2, L4, L5 */
  async #checkEndings(place: Place): Promise<ReadonlyMap<string, readonly string[]>> {
    const { world, ended, partitions } = place;
    const stories = new Map<string, readonly string[]>();
    await place.look(async ({ stores, runtime, start }) => {
      await start();
      for (const id of ended) {
        const events = await stores.eventStore.read(id);
        const state = await runtime.loadState(id);
        const header = await stores.eventStore.find(id);
        assert.equal(header?.sequence, events.length - 1, `${id}: its header (L2)`);
        assert.equal(header?.status, state.status, `${id}: its header (L2)`);
        assert.equal(state.sequence, events.length - 1, `${id}: its fold (L2)`);
        const { status, output } = expectedOf(id);
        assert.deepEqual(
          { status: state.status, output: state.variables["_output"] },
          { status, output },
          `${id} (L5)`,
        );
        for (const frame of Object.values(state.frames)) {
          if (status === "completed") assert.equal(frame.status, "completed", `${id} ${frame.stepId} (L5)`);
          this.#checkRuns(world, id, frame, events);
        }
        for (const gate of Object.values(state.gates)) {
          if (status === "completed") assert.equal(gate.status, "resolved", `${id} ${gate.gateId} (L5)`);
        }
        this.tally.doubts += events.filter(({ type }) => type === "EFFECT_INDOUBT").length;
        this.tally.events += events.length;
        stories.set(id, storyOf(events));
      }
    });
    await place.look(async ({ stores }) => {
      for (let i = 0; i < partitions; i++)
        assert.equal(
          await (await stores.eventStore.open(i)).nextTimer(-Infinity),
          undefined,
          "a timer is left (L5)",
        );
    });
    return stories;
  }

  /** L3, L4: the log, and what was seen outside of the runs of one step that is done. */
  #checkRuns(
    world: OutsideWorld,
    id: string,
    { stepId, attempts }: { readonly stepId: string; readonly attempts: number },
    events: readonly EventEnvelope[],
  ): void {
    const where = `${id} ${stepId}`;
    const runs = world.runsOf(id, stepId);
    assert.ok(runs, `${where} is recorded as done and never ran (L3)`);
    const { started, finished } = runs;
    const retries = retriesOf(events, stepId);
    const known = [1, ...retries.map(({ attempt }) => attempt)];
    assert.deepEqual(
      known,
      Array.from({ length: attempts }, (_, i) => i + 1),
      `${where}: its attempts (L3)`,
    );
    const most = Math.max(...started, ...finished);
    assert.ok(most <= attempts, `${where}: attempt ${most} is not in its log (L3)`);
    assert.equal(started.at(-1), attempts, `${where}: the last attempt that began (L3)`);
    assert.equal(finished.at(-1), attempts, `${where}: the last attempt that was done (L3)`);
    assert.ok(!isRepeatedWhenDone(events, stepId), `${where} was asked for again when done (L3)`);
    if (finished.length > 1) this.tally.doubledAllowed++;
    if (stepId === "once")
      assert.ok(
        retries.every(({ reason }) => reason === "verdict"),
        `${where} (L4)`,
      );
  }

  /** A host complains of what happens to it, and of nothing else. */
  #hear(place: Place, lines: readonly string[], round: Round | undefined, where: string): void {
    place.hear(lines);
    for (const line of lines.filter((said) => /^(warning|storage) /.test(said))) {
      const isThread = (round?.actors ?? 0) > 0 && THREAD_ENDED.test(line);
      assert.ok(isThread || round?.fault.kind === "full", `${where}: ${line}`);
      if (isThread) this.tally.threads++;
    }
  }
}

interface HostOptions extends Pick<Round, "actors" | "pool" | "maxResident"> {
  /** Default: where the lane is. */
  readonly place?: Place;
  readonly ids: readonly string[];
  readonly death?: {
    readonly point: string;
    readonly count: number;
    readonly kind?: "thread";
    readonly once?: string;
  };
  readonly roomKiB?: number;
}
