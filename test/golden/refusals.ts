// What is done to a good log so that it has to be refused, and how it is to be refused. The results are kept as files: they stay what
// they are when the encoders change.

import { packRecord, unpackRecord, type Wire } from "../../src/kernel/codec/index.js";
import type { RefusedLog, Stored } from "./golden-log.js";

interface Refusal extends Pick<RefusedLog, "about" | "refusedBy" | "code"> {
  readonly damage: (stored: Stored) => void;
}

/** Changes the value of one row, decoded. */
function change(stored: Stored, table: "log" | "header", index: number, to: (wire: Wire[]) => unknown): void {
  const row = stored.rows[table]!.at(index)!;
  const wire = unpackRecord(Buffer.from(row[1], "hex")) as Wire[];
  row[1] = Buffer.from(packRecord(to(wire) as Wire)).toString("hex");
}

/** Files it as running and takes its end away: an execution that has ended is not looked at again. */
function unfinish({ rows }: Stored): void {
  rows.log!.pop();
  const header = rows.header![0]!;
  header[0] = `01${header[0].slice(2)}`;
}

const directoryWith =
  (more: object) =>
  (stored: Stored): void => {
    stored.directory = { ...(stored.directory as object), ...more };
  };

export const REFUSALS: Readonly<Record<string, Refusal>> = {
  "newer-directory": {
    about: "heddle.json has the next format version",
    refusedBy: "open",
    code: "FORMAT_UNSUPPORTED",
    damage: directoryWith({ format: 2 }),
  },
  "no-format": {
    about: "heddle.json has no format version",
    refusedBy: "open",
    code: "FORMAT_UNSUPPORTED",
    damage: directoryWith({ format: undefined }),
  },
  "torn-directory": {
    about: "heddle.json ends in the middle",
    refusedBy: "open",
    code: "FORMAT_UNSUPPORTED",
    damage: (stored) => {
      stored.directory = JSON.stringify(stored.directory).slice(0, 20);
    },
  },
  "no-partitions": {
    about: "heddle.json has a number of partitions there cannot be",
    refusedBy: "open",
    code: "CONFIG_INVALID",
    damage: directoryWith({ partitions: 0 }),
  },
  "newer-record": {
    about: "the second record has a newer schema version",
    refusedBy: "read",
    code: "RECORD_UNREADABLE",
    damage: (stored) => change(stored, "log", 1, ([, ...rest]) => [999, ...rest]),
  },
  "torn-record": {
    about: "the last record lacks its last byte",
    refusedBy: "read",
    code: "RECORD_UNREADABLE",
    damage: ({ rows }) => {
      const row = rows.log!.at(-1)!;
      row[1] = row[1].slice(0, -2);
    },
  },
  "unknown-kind": {
    about: "an event of the second record is of a kind nobody knows",
    refusedBy: "read",
    code: "RECORD_UNREADABLE",
    damage: (stored) =>
      change(stored, "log", 1, ([version, at, ...rows]) => [version, at, ...rows, [250, "x"]]),
  },
  "foreign-extension": {
    about: "the second record holds a msgpack extension that is not heddle's",
    refusedBy: "read",
    code: "RECORD_UNREADABLE",
    damage: ({ rows }) => {
      rows.log![1]![1] = `9301cb4278000000000000${"d46501"}`;
    },
  },
  "not-a-record": {
    about: "the first record is a text",
    refusedBy: "runtime",
    code: "RECORD_UNREADABLE",
    damage: (stored) => {
      unfinish(stored);
      change(stored, "log", 0, () => "text");
    },
  },
  gap: {
    about: "a record in the middle is missing",
    refusedBy: "runtime",
    code: "RECORD_UNREADABLE",
    damage: (stored) => {
      unfinish(stored);
      stored.rows.log!.splice(1, 1);
    },
  },
  "no-beginning": {
    about: "the first record is missing",
    refusedBy: "runtime",
    code: "RECORD_UNREADABLE",
    damage: (stored) => {
      unfinish(stored);
      stored.rows.log!.shift();
    },
  },
};
