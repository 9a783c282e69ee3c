// Targets: every decoder that is given bytes by a disk, a thread or a person, with the inputs it expects, and the codes of the errors it
// may answer with. Anything else it throws is a finding.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { run } from "../../src/cli/program.js";
import { Terminal } from "../../src/cli/terminal.js";
import { fromWire, packRecord, toWire, unpackRecord, type Wire } from "../../src/kernel/codec/index.js";
import { envelopesOf } from "../../src/kernel/envelope.js";
import { checkEvent } from "../../src/kernel/events.js";
import { fold } from "../../src/kernel/fold.js";
import { revealState } from "../../src/kernel/state.js";
import { decodeContent } from "../../src/kernel/store/lmdb/content-keys.js";
import { readDirectory } from "../../src/kernel/store/lmdb/directory.js";
import { keyFromBytes } from "../../src/kernel/store/lmdb/keys.js";
import { decodeHeader, decodeMeter, decodeRecord, decodeSnapshot } from "../../src/kernel/store/record.js";
import { digestOf, loadCassette } from "../../src/testing/vcr/cassette.js";
import { unpackFailure, unpackPacket } from "../../src/workers/packets/index.js";
import { packPacket } from "../../src/workers/packets/packet.js";
import { unpackForHost, unpackForThread } from "../../src/workers/partitions/protocol.js";
import { isHostMessage, isThreadMessage } from "../../src/workers/pool/protocol.js";
import { type GoldenLog, readGolden, restore } from "../golden/golden-log.js";

export interface Target {
  readonly seeds: readonly Buffer[];
  readonly codes: readonly string[];
  /** A promise only where a file has to be read. */
  readonly decode: (bytes: Buffer) => unknown;
  /** Of files and commands, which take longer, a share as small as this. Default 1. */
  readonly share?: number;
}

const LOGS = [...readGolden<GoldenLog>("logs").values()];
const valuesOf = (table: keyof GoldenLog["rows"]): Buffer[] =>
  LOGS.flatMap(({ rows }) => rows[table] ?? []).map(([, value]) => Buffer.from(value, "hex"));

const UNREADABLE = ["RECORD_UNREADABLE"];

const dir = mkdtempSync(join(tmpdir(), "heddle-fuzz-"));
process.once("exit", () => rmSync(dir, { recursive: true, force: true }));

/** As `packPacket` makes them, whichever form it chose. */
function bytesOfPacket(messages: readonly (readonly [number, ...Wire[]])[]): Buffer {
  const packet = packPacket(messages);
  return typeof packet === "string" ? Buffer.from(packet, "latin1") : Buffer.from(packet);
}

const failure = toWire(
  Object.assign(new Error("of a thread", { cause: new RangeError("deeper") }), { code: "E" }),
);
const POOL_PACKETS = [
  bytesOfPacket([
    [0, 1, "effect", { a: 1 }, "x", "flow", "step", 1, null, "tool", "key", true, undefined, null],
    [1, 1, failure],
    [2],
    [3, 1],
  ]),
  bytesOfPacket([
    [0, 1],
    [1, 1, "Emitted", { a: [1] }],
    [2, 1, 30, "out"],
    [3, 1, 30, failure, false],
    [4, 7],
    [6, 0],
    [7, 1, 5, 0.1],
    [8, 1, { text: true }],
  ]),
];
const PARTITION_PACKETS = [
  bytesOfPacket([
    [0, 1, "x", true, "flow", "1", { in: 1 }, undefined, 5],
    [1, 2, "x", "Go", { ok: true }, undefined, undefined, "r"],
    [2, 3, "x", "why", false],
    [3, 4, "x", "ended"],
    [9, 5, "x", "s", "retry", undefined],
  ]),
  bytesOfPacket([
    [0, 1],
    [1, 2, failure],
    [2, 3, "out"],
    [3, 4, 17],
    [4, "x", 17],
    [5, 0, "x", 3, [1, 5, [14, "n", 1]]],
    [6, "warn"],
    [8, 0, []],
  ]),
];

function readsFile<T>(name: string, read: (file: string) => T): (bytes: Buffer) => T {
  const file = join(dir, name);
  return (bytes) => {
    writeFileSync(file, bytes);
    return read(file);
  };
}

const request = { messages: [{ role: "user" as const, content: "hello" }] };
const cassette = {
  format: 1,
  provider: { id: "scripted", capabilities: {} },
  recordings: {
    [digestOf(request)]: { request, answers: [{ response: { content: "hi", stopReason: "end" } }] },
  },
};

const logDirectory = join(dir, "log");
await restore(logDirectory, LOGS[0]!);

const COMMANDS = [
  "ls --db DIR --status running,set-aside --flow f --limit 10 --after golden --json",
  "logs --db DIR golden --from 1 --to 3 --type STEP_FAILED --full --json",
  "debug --db DIR golden --at 10 --full",
  "doubts --db DIR --limit 3",
  'resolve --db DIR golden s --outcome {"a":[1,2]}',
  "--version",
  "help logs",
];

/** Words that lead out of the fuzz: into waiting, another directory, a module that is run. */
const LEADS_OUT = /^(?:-f|--f|tune|\/|\.)/;

async function runsCommand(bytes: Buffer): Promise<void> {
  const words = bytes
    .toString()
    .split(" ")
    .map((word) => (word === "DIR" ? logDirectory : word));
  if (words.some((word) => LEADS_OUT.test(word))) return;
  const stdout = new PassThrough().resume();
  const stderr = new PassThrough();
  const said: Buffer[] = [];
  stderr.on("data", (piece: Buffer) => said.push(piece));
  const code = await run(words, new Terminal({ stdout, stderr, env: {} }));
  const complaint = Buffer.concat(said).toString();
  // A stack is what a person is shown of an error that nobody expected.
  if (!([0, 1, 2] as number[]).includes(code) || /\n\s+at .*:\d+/.test(complaint))
    throw new Error(`exit ${code}: ${complaint}`);
}

export const TARGETS: Readonly<Record<string, Target>> = {
  "records of a log": {
    seeds: valuesOf("log"),
    codes: UNREADABLE,
    decode: (bytes) => {
      const record = decodeRecord(0, bytes);
      for (const _envelope of envelopesOf("x", record));
      for (const event of record.events) checkEvent(event);
      revealState("x", fold([record]));
    },
  },
  values: {
    seeds: [...valuesOf("log"), Buffer.from(packRecord(failure))],
    codes: UNREADABLE,
    decode: (bytes) => fromWire(unpackRecord(bytes)),
  },
  headers: {
    seeds: valuesOf("header"),
    codes: UNREADABLE,
    decode: (bytes) => decodeHeader("running", 0, bytes),
  },
  totals: { seeds: valuesOf("meter"), codes: UNREADABLE, decode: (bytes) => decodeMeter("flow", 0, bytes) },
  content: {
    seeds: LOGS.flatMap(({ rows }) => rows.content ?? [])
      .filter(([key]) => key.startsWith("01")) // the others are chunks of the content itself, and citations
      .map(([, value]) => Buffer.from(value, "hex")),
    codes: UNREADABLE,
    decode: decodeContent,
  },
  snapshots: {
    seeds: [Buffer.from(packRecord([3, 5, { status: "running", frames: {} }]))],
    codes: UNREADABLE,
    decode: (bytes) => decodeSnapshot("x", bytes),
  },
  keys: { seeds: valuesOf("id"), codes: UNREADABLE, decode: keyFromBytes },
  // An invariant (K1, K2): packets are no boundary, both ends are of one build.
  "packets of the pool": {
    seeds: POOL_PACKETS,
    codes: [...UNREADABLE, "INVARIANT_BROKEN"],
    decode: (bytes) => {
      const messages = unpackPacket(bytes.toString("latin1"));
      return [messages.filter(isThreadMessage), messages.filter(isHostMessage)];
    },
  },
  "packets of partition threads": {
    seeds: PARTITION_PACKETS,
    codes: [...UNREADABLE, "INVARIANT_BROKEN"],
    decode: (bytes) => {
      const packet = new Uint8Array(bytes).buffer;
      return [unpackForThread(packet), unpackForHost(packet)];
    },
  },
  "failures between threads": {
    seeds: [Buffer.from(packRecord(failure))],
    codes: UNREADABLE,
    decode: (bytes) => unpackFailure(unpackRecord(bytes)),
  },
  "heddle.json": {
    seeds: LOGS.slice(0, 1).map(({ directory }) => Buffer.from(JSON.stringify(directory))),
    codes: ["FORMAT_UNSUPPORTED", "CONFIG_INVALID"],
    decode: readsFile("heddle.json", () => readDirectory(dir)),
    share: 0.05,
  },
  cassettes: {
    seeds: [Buffer.from(JSON.stringify(cassette))],
    codes: UNREADABLE,
    decode: readsFile("cassette.json", loadCassette),
    share: 0.05,
  },
  "command lines": {
    seeds: COMMANDS.map((command) => Buffer.from(command)),
    codes: [],
    decode: runsCommand,
    share: 0.03,
  },
};
