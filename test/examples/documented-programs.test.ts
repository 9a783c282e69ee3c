// The complete programs of the documentation, done as a newcomer does them: saved, compiled strictly, libraries included, and run.

import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { temporaryDirectory } from "../lifecycle/world.js";

const root = resolve(import.meta.dirname, "../..");
const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin", "tsc");
const strictly =
  "--strict --exactOptionalPropertyTypes --skipLibCheck false --module nodenext --target es2023".split(" ");
const execute = promisify(execFile);
const node = (cwd: string, ...args: readonly string[]) =>
  execute(process.execPath, args, { cwd, encoding: "utf8" });

/** The first blocks of TypeScript on a page, saved under these names in a package of their own that has heddle installed. */
function saved(page: string, names: readonly string[]): string {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, "node_modules"));
  for (const [name, target] of [
    ["heddle", root] as const,
    ["zod", join(root, "node_modules", "zod")] as const,
  ])
    symlinkSync(target, join(directory, "node_modules", name), "junction");
  writeFileSync(join(directory, "package.json"), '{ "type": "module" }');
  const blocks = [...readFileSync(join(root, page), "utf8").matchAll(/^```ts\n([\s\S]*?)^```/gm)];
  for (const [i, name] of names.entries()) writeFileSync(join(directory, name), blocks[i]?.[1] ?? "");
  return directory;
}

const id = /^[0-9a-f-]{36}$/;
const digest = /^[0-9a-f]{64}$/;

it.each<[string, readonly string[], (lines: readonly string[]) => void]>([
  ["README.md", ["main.ts"], (lines) => expect(lines).toEqual(["17/order-17/charge"])],
  [
    "docs/effects.md",
    ["main.ts"],
    (lines) => {
      expect(lines.slice(0, 2)).toEqual([expect.stringMatching(id), "refused: no money"]);
      expect(lines.filter((line) => line.includes("code: "))).toEqual([
        expect.stringContaining("EFFECT_DENIED"),
        expect.stringContaining("EFFECT_STOPPED"),
      ]);
    },
  ],
  ["docs/agents.md", ["main.ts"], (lines) => expect(lines.at(-1)).toBe("You have your 42 euros back.")],
  ["docs/content.md", ["main.ts"], (lines) => expect(lines).toEqual(["4", "6"])],
  [
    "docs/workers.md",
    ["effects.ts", "flows.ts", "main.ts"],
    (lines) => {
      const digests = lines.slice(1, 4).map((line) => line.replaceAll(/[ ',]/g, ""));
      expect(digests).toEqual(Array(3).fill(expect.stringMatching(digest)));
      expect(lines.join()).toContain("done: 3");
    },
  ],
])(
  "the program of %s compiles, runs and says what the page says",
  { timeout: 60_000 },
  async (page, names, check) => {
    const directory = saved(page, names);
    writeFileSync(join(directory, "orders.csv"), "a\nb\nc\n");
    const compiled = await node(directory, tsc, ...strictly, ...names).catch(
      (error: { readonly stdout: string }) => error,
    );
    expect(compiled.stdout).toBe("");
    for (const run of ["first", "again, on the same directory"]) {
      const { stdout, stderr } = await node(directory, "main.js");
      expect(stderr, run).toBe("");
      check(stdout.trimEnd().split("\n"));
    }
  },
);
