// Goal: the bytes of docs/adr/0001-log-layout.md. A change here is a change of the format: old directories must still
// open, or be refused with what to do.
// Method: a partition is read with nothing of ours.

import { join } from "node:path";
import { open } from "lmdb";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LmdbEventStore } from "../../../src/kernel/store/index.js";
import { ScriptedExecution } from "../../../src/testing/scripted-execution.js";
import { type TemporaryDirectory, temporaryDirectory } from "./temporary-directory.js";

let temporary: TemporaryDirectory;
beforeEach(() => {
  temporary = temporaryDirectory();
});
afterEach(() => temporary.remove());

const binary = { encoding: "binary", keyEncoding: "binary" } as const;
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

describe("a partition on the disk", () => {
  it("has the tables, keys and values of ADR 0001", async () => {
    const store = new LmdbEventStore({
      dir: temporary.dir,
      now: () => 1_700_000_000_000,
      createdBy: "heddle test",
    });
    const log = await store.open(0);
    const execution = new ScriptedExecution(2 ** 32 + 5, "a");
    const timer = { wakeAt: 1.5, key: execution.key, gateId: "g" };
    await log.commit({ executions: [execution.start("in", { arm: [timer] })] });
    const totals = { calls: 3, tokens: 40, cost: 0.5, wallMs: 6 };
    await log.commit({
      executions: [execution.advance(1, { status: "suspended" })],
      meters: [
        { scope: "flow", of: "f", perMs: 0, windowStart: 0, ...totals },
        { scope: "tenant", of: "t", perMs: 1.5, windowStart: 300, ...totals },
      ],
    });
    await log.commit({
      executions: [execution.append([], { status: "setAside", aside: { code: "C", message: "m" } })],
    });
    await store.snapshots.save({ executionId: "a", sequence: 1, state: "s" });
    await store.close();

    const root = open<Uint8Array, Uint8Array>({
      path: join(temporary.dir, "p000"),
      readOnly: true,
      maxDbs: 24,
      ...binary,
    });
    const table = (name: string): string[] => {
      const rows = root.openDB<Uint8Array, Uint8Array>(name, binary).getRange()
        .asArray as unknown as Iterable<{
        key: Uint8Array;
        value: Uint8Array;
      }>;
      return [...rows].map(({ key, value }) => `${hex(key)} = ${hex(value)}`);
    };
    expect(table("id")).toMatchInlineSnapshot(`
      [
        "61 = 0000000100000005",
      ]
    `);
    expect(table("header")).toMatchInlineSnapshot(`
      [
        "060000000100000005 = 9901a161a4666c6f77a13101cb4278bcfe56801000cb4278bcfe56803000a143a16d",
      ]
    `);
    expect(table("log")).toMatchInlineSnapshot(`
      [
        "000000010000000500000000 = 9301cb4278bcfe568010009501a4666c6f77a131a2696e90",
        "000000010000000500000001 = 9301cb4278bcfe56802000930ea56d6f76656481a2617401",
      ]
    `);
    expect(table("timer")).toMatchInlineSnapshot(`
      [
        "3ff8000000000000000000010000000567 = 67",
      ]
    `);
    expect(table("snapshot")).toMatchInlineSnapshot(`
      [
        "61 = 930301a173",
      ]
    `);
    expect(table("meter")).toMatchInlineSnapshot(`
      [
        "01000000000000000066 = 9701a166000328cb3fe000000000000006",
        "023ff800000000000074 = 9701a174cd012c0328cb3fe000000000000006",
      ]
    `);
    expect(table("owner").map((row) => row.split(" = ")[0])).toEqual([hex(Buffer.from("owner"))]);
    await root.close();
  });

  it("opens a directory from before there were totals, for readers and for its next owner", async () => {
    const options = { dir: temporary.dir, now: () => 1, createdBy: "heddle test" };
    const store = new LmdbEventStore(options);
    const log = await store.open(0);
    const execution = new ScriptedExecution(0, "a");
    await log.commit({ executions: [execution.start("in")] });
    await store.close();
    const root = open<Uint8Array, Uint8Array>({ path: join(temporary.dir, "p000"), maxDbs: 24, ...binary });
    await root.openDB<Uint8Array, Uint8Array>("meter", binary).drop();
    await root.close();

    const reader = new LmdbEventStore({ ...options, create: false });
    expect(await reader.read("a")).toHaveLength(1);
    expect(await reader.reads(0).meters()).toEqual([]);
    await reader.close();
    const next = new LmdbEventStore(options);
    const owned = await next.open(0);
    expect(await owned.meters()).toEqual([]);
    const total = { scope: "flow", of: "f", perMs: 0, windowStart: 0 } as const;
    const row = { ...total, calls: 1, tokens: 2, cost: 3, wallMs: 4 };
    await owned.commit({ executions: [execution.advance()], meters: [row] });
    expect(await owned.meters()).toEqual([row]);
    await next.close();
  });
});
