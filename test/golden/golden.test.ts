// Golden logs: what the current format is, in bytes, with what they mean, and logs that have to be refused. A change that breaks one of
// these breaks every directory there is. (ARCHITECTURE.md, "Changing the format")

import { describe, expect, it, onTestFinished } from "vitest";
import type { LoomApp } from "../../src/app/define-config.js";
import { lmdbStorage } from "../../src/index.js";
import { packRecord } from "../../src/kernel/codec/index.js";
import { EVENT_KINDS } from "../../src/kernel/events.js";
import {
  type ExecutionState,
  type FiledStatus,
  fold,
  isTerminal,
  type LogRecord,
  MemoryContentStore,
  MemoryEventStore,
  MemorySnapshotStore,
} from "../../src/kernel/index.js";
import { keyOfHeader, STATUSES, sequenceOfLog } from "../../src/kernel/store/lmdb/keys.js";
import { decodeHeader, decodeRecord, headerToWire, recordToWire } from "../../src/kernel/store/record.js";
import type { ExecutionHeader, TimerRow } from "../../src/kernel/store/spi.js";
import { createTestApp, fireDueTimers } from "../../src/testing/index.js";
import { temporaryDirectory } from "../support/temporary-directory.js";
import { drive } from "./drive.js";
import { GOLDEN_CONFIG, GOLDEN_FLOWS } from "./flows.js";
import { dump, type GoldenLog, ID, plain, type RefusedLog, readGolden, restore } from "./golden-log.js";

const LOGS = readGolden<GoldenLog>("logs");
const REFUSED = readGolden<RefusedLog>("refused");

const bytesOf = (hex: string): Buffer => Buffer.from(hex, "hex");

const recordsOf = ({ rows }: Pick<GoldenLog, "rows">): LogRecord[] =>
  (rows.log ?? []).map(([key, value]) => decodeRecord(sequenceOfLog(bytesOf(key)), bytesOf(value)));

function headerOf({ rows }: Pick<GoldenLog, "rows">): ExecutionHeader {
  const [key, value] = rows.header![0]!;
  return decodeHeader(STATUSES[bytesOf(key)[0]! - 1]!, keyOfHeader(bytesOf(key)), bytesOf(value));
}

function open(dir: string): LoomApp {
  const app = createTestApp({ ...GOLDEN_CONFIG, storage: lmdbStorage({ dir, sync: "commit" }), clock: true });
  onTestFinished(() => app.close());
  return app;
}

it("there is a golden log for every kind of event, and a flow for every golden log", () => {
  const kinds = new Set(
    [...LOGS.values()]
      .flatMap((log) => recordsOf(log))
      .flatMap(({ events }) => events)
      .map(({ type }) => type),
  );
  expect(Object.keys(EVENT_KINDS).filter((kind) => !kinds.has(kind as never))).toEqual([]);
  expect(Object.keys(GOLDEN_FLOWS).sort()).toEqual([...LOGS.keys()]);
});

describe.each([...LOGS])("the golden log %s", (name, log) => {
  const golden = GOLDEN_FLOWS[name]!;

  it("is read as what it says, by the store and by the runtime, and is not changed by that", async () => {
    const dir = temporaryDirectory();
    await restore(dir, log);
    const app = open(dir);
    await app.start();
    await fireDueTimers(app);
    expect(plain(await app.stores.eventStore.read(ID))).toEqual(log.events);
    expect(plain(await app.runtime.loadState(ID))).toEqual(log.state);
    await app.close();
    expect(await dump(dir)).toEqual({ directory: log.directory, rows: log.rows });
  });

  it("is what is written today, byte for byte", () => {
    const records = recordsOf(log).map((record) => packed(recordToWire(record)));
    expect(records).toEqual(log.rows.log!.map(([, value]) => value));
    expect(packed(headerToWire(headerOf(log)))).toBe(log.rows.header![0]![1]);
  });

  it("comes to the same on replay, wherever it was cut", async () => {
    const records = recordsOf(log);
    const expected = essence(log.state as ExecutionState);
    for (let kept = 1; kept <= records.length; kept++) {
      const app = await appWith(records.slice(0, kept), headerOf(log));
      const state = await drive(app, golden);
      expect(essence(plain(state) as ExecutionState), `after ${kept} records of ${records.length}`).toEqual(
        expected,
      );
      await app.close();
    }
  });
});

describe.each([...REFUSED])("%s", (_name, log) => {
  it(`is refused: ${log.about} (${log.code})`, async () => {
    const dir = temporaryDirectory();
    await restore(dir, log);
    if (log.refusedBy === "open") {
      // Some say no when the app is built and some when it opens its log.
      const opening = async (): Promise<void> => open(dir).start();
      await expect(opening()).rejects.toMatchObject({ code: log.code });
      return;
    }
    const app = open(dir);
    await expect(app.stores.eventStore.read(ID)).rejects.toMatchObject({ code: log.code });
    if (log.refusedBy === "runtime") {
      await fireDueTimers(app);
      expect(await app.runtime.list()).toMatchObject([
        { id: ID, status: "setAside", aside: { code: log.code } },
      ]);
    }
    await app.close();
    const { rows } = await dump(dir);
    expect(rows.log).toEqual(log.rows.log);
  });
});

const packed = (wire: Parameters<typeof packRecord>[0]): string =>
  Buffer.from(packRecord(wire)).toString("hex");

/** A process that finds the first records of a log and the timers that those had armed. */
async function appWith(records: readonly LogRecord[], header: ExecutionHeader): Promise<LoomApp> {
  const contentStore = new MemoryContentStore({ now: () => 0 });
  const eventStore = new MemoryEventStore({ content: contentStore });
  const log = await eventStore.open(0);
  const state = fold(records);
  const status: FiledStatus = isTerminal(state.status) ? state.status : "running";
  const written = { ...header, key: 0, status, sequence: state.sequence, aside: undefined };
  for (const [index, record] of records.entries()) {
    const created = index === 0;
    const refile = created ? { from: undefined } : undefined;
    const arm = created ? timersOf(records) : [];
    await log.commit({ executions: [{ header: written, created, refile, record, arm, disarm: [] }] });
  }
  await log.close();
  const storage = {
    kind: "custom",
    eventStore,
    contentStore,
    snapshotStore: new MemorySnapshotStore(),
  } as const;
  const app = createTestApp({ ...GOLDEN_CONFIG, storage, clock: true });
  onTestFinished(() => app.close());
  return app;
}

function timersOf(records: readonly LogRecord[]): TimerRow[] {
  const { gates, frames, deadlineAt, status } = fold(records);
  if (isTerminal(status)) return [];
  const rows: TimerRow[] = [];
  const arm = (wakeAt: number | undefined, gateId: string): void => {
    if (wakeAt !== undefined) rows.push({ wakeAt, key: 0, gateId });
  };
  arm(deadlineAt, "deadline");
  for (const gate of Object.values(gates))
    if (gate.status === "open") arm(gate.wakeAt, `gate:${gate.gateId}`);
  for (const frame of Object.values(frames)) {
    if (frame.status !== "started") continue;
    arm(frame.deadlineAt, `until:${frame.stepId}`);
    const last = records
      .flatMap(({ events }) => events)
      .findLast(
        (event) => "stepId" in event && event.stepId === frame.stepId && event.type !== "EFFECT_METERED",
      );
    if (last?.type === "STEP_RETRIED" && last.reason === "failed") arm(last.dueAt, `retry:${frame.stepId}`);
  }
  return rows;
}

/** What an execution came to, whenever it was and however often it was tried. */
function essence({
  status,
  variables,
  reason,
  code,
  error,
  frames,
  gates,
  decisions,
}: ExecutionState): unknown {
  return {
    status,
    variables,
    reason,
    code,
    error,
    decisions,
    // What an error says of an attempt depends on which attempt it was.
    frames: Object.values(frames).map(({ stepId, status, output, error }) => {
      return { stepId, status, output, hasError: error !== undefined };
    }),
    gates: Object.values(gates).map(({ gateId, status, payload }) => ({ gateId, status, payload })),
  };
}
