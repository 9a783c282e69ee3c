// Golden logs as files: every row of the tables of a partition, key and value in hexadecimal digits, and beside them what they mean.
// The row of the owner is left out: every opening writes its own.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { open } from "lmdb";

const BINARY = { encoding: "binary", keyEncoding: "binary" } as const;
const TABLES = ["id", "header", "log", "timer", "snapshot", "meter", "content"] as const;

type Table = (typeof TABLES)[number];
export type Rows = Partial<Record<Table, [key: string, value: string][]>>;

/** What a directory holds. */
export interface Stored {
  /** What `heddle.json` says; text where it is no JSON. */
  directory: unknown;
  rows: Rows;
}

export interface GoldenLog extends Stored {
  readonly about: string;
  /** What programs read of it, in plain form. */
  readonly events: unknown;
  readonly state: unknown;
}

export interface RefusedLog extends Stored {
  readonly about: string;
  /** Who refuses it: the store, when it opens or when it reads; or, when it reads, the runtime too, which sets the execution aside. */
  readonly refusedBy: "read" | "open" | "runtime";
  readonly code: string;
}

/** The id of the execution in every golden log. */
export const ID = "golden";

const here = import.meta.dirname;

export function readGolden<T extends GoldenLog | RefusedLog>(kind: "logs" | "refused"): Map<string, T> {
  const files = readdirSync(join(here, kind)).filter((file) => file.endsWith(".json"));
  return new Map(
    files
      .sort()
      .map((file) => [file.slice(0, -5), JSON.parse(readFileSync(join(here, kind, file), "utf8")) as T]),
  );
}

/** One row a line, so that a diff shows which one changed. */
export function writeGolden(kind: "logs" | "refused", name: string, log: GoldenLog | RefusedLog): void {
  mkdirSync(join(here, kind), { recursive: true });
  const text = JSON.stringify(log, undefined, 1).replaceAll(
    /\[\n\s+("[0-9a-f]*"),\n\s+("[0-9a-f]*")\n\s+\]/g,
    "[$1, $2]",
  );
  writeFileSync(join(here, kind, `${name}.json`), `${text}\n`);
}

/** Reads a directory that nobody has open. */
export async function dump(dir: string): Promise<Stored> {
  const root = open<Uint8Array, Uint8Array>({ path: join(dir, "p000"), maxDbs: 24, ...BINARY });
  const rows: Rows = {};
  for (const name of TABLES) {
    const table = root.openDB<Uint8Array, Uint8Array>(name, BINARY);
    const found = [...table.getRange()].map(({ key, value }): [string, string] => [hexOf(key), hexOf(value)]);
    if (found.length > 0) rows[name] = found;
  }
  await root.close();
  return { directory: JSON.parse(readFileSync(join(dir, "heddle.json"), "utf8")), rows };
}

/** Makes a directory of it, as a heddle that ended left it behind. */
export async function restore(dir: string, { directory, rows }: Stored): Promise<void> {
  const path = join(dir, "p000");
  mkdirSync(path, { recursive: true });
  writeFileSync(
    join(dir, "heddle.json"),
    typeof directory === "string" ? directory : JSON.stringify(directory),
  );
  const root = open<Uint8Array, Uint8Array>({ path, maxDbs: 24, noSync: true, ...BINARY });
  root.openDB("owner", BINARY);
  for (const name of TABLES) {
    const table = root.openDB<Uint8Array, Uint8Array>(name, BINARY);
    for (const [key, value] of rows[name] ?? [])
      await table.put(Buffer.from(key, "hex"), Buffer.from(value, "hex"));
  }
  await root.close();
}

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

/** A value as JSON that a person can read. Stacks are left out: what they say of heddle's own files is nobody's contract. */
export function plain(value: unknown, path: readonly object[] = []): unknown {
  switch (typeof value) {
    case "undefined":
      return { $: "undefined" };
    case "bigint":
      return { $bigint: String(value) };
    case "number":
      return Number.isFinite(value) && !Object.is(value, -0)
        ? value
        : { $number: Object.is(value, -0) ? "-0" : String(value) };
    case "object":
      break;
    default:
      return value;
  }
  if (value === null) return null;
  if (path.includes(value)) return { $circular: path.length - path.indexOf(value) };
  const inner = (item: unknown): unknown => plain(item, [...path, value]);
  if (value instanceof Date) return { $date: value.toISOString() };
  if (value instanceof RegExp) return { $regexp: String(value) };
  if (value instanceof Map) return { $map: [...value].map(([key, item]) => [inner(key), inner(item)]) };
  if (value instanceof Set) return { $set: [...value].map(inner) };
  if (ArrayBuffer.isView(value))
    return {
      $bytes: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("hex"),
      of: value.constructor.name,
    };
  if (Array.isArray(value))
    return Array.from(value, (item, index) => (index in value ? inner(item) : { $: "hole" }));
  const entries = Object.fromEntries(Object.entries(value).map(([key, item]) => [key, inner(item)]));
  if (!(value instanceof Error)) return Object.getPrototypeOf(value) === null ? { $bare: entries } : entries;
  const { name, message, cause } = value;
  return { $error: { name, message, ...(cause !== undefined && { cause: inner(cause) }), ...entries } };
}
