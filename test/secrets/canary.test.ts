// C-EMB-03: a canary in every place where a user could put a secret. It is run, fails, is retried, is killed by SIGKILL with a
// step under way, goes on, is listed by the command line; then every byte of the directory and everything that was said is
// searched for it: as it is, in hex, and in base64 at its three alignments.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startHeddle } from "../cli/heddle.js";
import { startChild } from "../crash/child.js";
import { temporaryDirectory, until } from "../workers/partitions/world.js";
import { formsOf } from "./forms.js";

const HOST = new URL("./programs/canary-host.mjs", import.meta.url);
const TOKEN = "kq7Zt0CaNaRyV9xW";

const FORMS = formsOf(TOKEN);
const WIDE = Buffer.from(TOKEN, "utf16le");

/** Where the canary is, with what stands around it. */
function sightings(where: string, bytes: Buffer): string[] {
  const text = bytes.toString("latin1");
  const found = FORMS.filter((form) => text.includes(form)).map((form) => {
    const at = text.indexOf(form);
    return `${where}: ${JSON.stringify(text.slice(Math.max(0, at - 80), at + 120))}`;
  });
  return bytes.includes(WIDE) ? [...found, `${where}: as UTF-16`] : found;
}

function everyFile(dir: string): string[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

interface Told {
  readonly result: unknown;
  readonly sightings: readonly string[];
  readonly filesSearched: number;
}

async function runAndSearch(place: string, env: Readonly<Record<string, string>>): Promise<Told> {
  const dir = join(temporaryDirectory(), "log");
  const LATE = join(temporaryDirectory(), "late");
  const all = {
    CANARY: TOKEN,
    DIR: dir,
    PLACE: place,
    LATE,
    POOL: place.includes("pool") ? "yes" : "no",
    ...env,
  };
  const first = startChild(HOST, { env: { ...all, PHASE: "1" } });
  await first.line((line) => line.startsWith("breaks"));
  await until(() => existsSync(LATE), "the late step began");
  first.kill("SIGKILL");
  const firstEnd = await first.ended;
  const second = startChild(HOST, { env: { ...all, PHASE: "2" } });
  const result = await second.line((line) => line.startsWith("RESULT"));
  const secondEnd = await second.ended;
  const said = [...first.lines, ...second.lines, firstEnd.stderr, secondEnd.stderr].join("\n");
  const commands = [
    ["ls"],
    ["ls", "--json"],
    ["logs", "x", "--full"],
    ["logs", "x", "--json"],
    ["logs", "y", "--full"],
    ["debug", "x", "--full"],
    ["debug", "x", "--json"],
    ["debug", "y", "--json"],
  ];
  const found = sightings("said by the hosts", Buffer.from(said));
  for (const args of commands) {
    const { stdout, stderr, code } = await startHeddle([...args, "--db", dir]).ended;
    expect([args, code, stderr]).toEqual([args, 0, ""]);
    found.push(...sightings(`heddle ${args.join(" ")}`, Buffer.from(stdout + stderr)));
  }
  const files = everyFile(dir);
  for (const file of files) found.push(...sightings(file, readFileSync(file)));
  expect(said).toContain("STEP_RETRIED");
  return {
    result: JSON.parse(result.slice("RESULT ".length)),
    sightings: found,
    filesSearched: files.length,
  };
}

describe("C-EMB-03: a canary in every place where a user could put a secret", () => {
  it.each(["host", "pool", "threads", "threads and pool"])(
    "is nowhere to be read, and the effects got it: %s",
    async (place) => {
      const { result, sightings: found, filesSearched } = await runAndSearch(place, { SEALED: "yes" });
      expect(found).toEqual([]);
      expect(filesSearched).toBeGreaterThanOrEqual(3);
      expect(result).toEqual({
        status: "completed",
        receipt: "attempt 2: true",
        isTrue: true,
        resultIsTrue: true,
      });
    },
    60_000,
  );

  it("is found wherever it was put once the marks are gone, so the search would have found it", async () => {
    const { sightings: found } = await runAndSearch("host", { MARKS: "off", SEALED: "no" });
    expect(found.filter((place) => place.startsWith("said")).length).toBeGreaterThanOrEqual(3);
    expect(found.some((place) => place.startsWith("heddle logs x --full"))).toBe(true);
    expect(found.some((place) => place.includes("data.mdb"))).toBe(true);
  }, 60_000);
});
