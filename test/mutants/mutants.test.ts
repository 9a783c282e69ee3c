// Goal: the list of mutants does not rot. `npm run mutants` makes each of them and runs the suite on it; here they are only put together.

import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseSync } from "vite";
import { describe, expect, it } from "vitest";
import { type Mutant, mutated } from "./mutant.js";
import { MUTANTS } from "./mutants.js";

const root = resolve(import.meta.dirname, "../..");
const sourceOf = ({ file }: Mutant): string => readFileSync(join(root, file), "utf8");

describe("a mutant", () => {
  it.each(MUTANTS)("$name fits its source once, and the result is a program", (mutant) => {
    const source = sourceOf(mutant);
    const text = mutated(mutant, source);
    expect(text).not.toBe(source);
    expect(parseSync(mutant.file, text).errors).toEqual([]);
  });

  it.each(MUTANTS)("$name names tests that there are", ({ noticedBy }) => {
    expect(noticedBy.length).toBeGreaterThan(0);
    expect(noticedBy.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });

  it("has a name and a rule of its own", () => {
    expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length);
    expect(new Set(MUTANTS.map(({ rule }) => rule)).size).toBe(MUTANTS.length);
  });

  it("whose text is not there, or more than once, is refused by name", () => {
    const mutant: Mutant = {
      name: "rotten",
      rule: "none",
      file: "src/a.ts",
      search: "a",
      replacement: "b",
      noticedBy: [],
    };
    expect(() => mutated(mutant, "x")).toThrow(/rotten does not fit.*0 times in src\/a\.ts/);
    expect(() => mutated(mutant, "aa")).toThrow(/2 times/);
    expect(mutated(mutant, "xax")).toBe("xbx");
  });
});
