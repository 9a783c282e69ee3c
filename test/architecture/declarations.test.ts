import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../support/temporary-directory.js";

// A program that type-checks its libraries too (`skipLibCheck: false`) reads every declaration it can reach from ours.
// Those of native packages do not compile everywhere, so none may be in reach: only zod, which users have anyway.

const root = resolve(import.meta.dirname, "../..");
const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  exports: Record<string, { types: string } | string>;
};

function externalImports(entry: string): Set<string> {
  const external = new Set<string>();
  const seen = new Set<string>();
  const queue = [entry];
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    for (const [, specifier = ""] of readFileSync(file, "utf8").matchAll(/(?:from|import\()\s*"([^"]+)"/g)) {
      if (specifier.startsWith(".")) queue.push(join(dirname(file), specifier.replace(/\.js$/, ".d.ts")));
      else external.add(specifier);
    }
  }
  expect(seen.size).toBeGreaterThan(1);
  return external;
}

describe("the declarations a program can reach", () => {
  const entries = Object.values(exports).flatMap((target) =>
    typeof target === "string" ? [] : [target.types],
  );

  it.each(entries)("%s brings no types but zod's and Node's", (types) => {
    const file = join(root, types);
    expect(existsSync(file)).toBe(true);
    const foreign = [...externalImports(file)].filter((name) => name !== "zod" && !name.startsWith("node:"));
    expect(foreign).toEqual([]);
  });

  // Newer compilers take no package's types in unless they are named, and `tsc --init` names none.
  it("compile in a program that names no types", () => {
    const program = temporaryDirectory();
    mkdirSync(join(program, "node_modules"));
    symlinkSync(root, join(program, "node_modules", "heddle"), "junction");
    const names = Object.entries(exports).flatMap(([name, target]) =>
      typeof target === "string" ? [] : [name.replace(".", "heddle")],
    );
    const files = names.map((name, i) => {
      const file = join(program, `${i}.mts`);
      writeFileSync(file, `export * as entry from "${name}";\n`);
      return file;
    });
    for (const file of files) expect(compile(file)).toMatchObject({ status: 0, stdout: "", stderr: "" });
  });
});

const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin", "tsc");
const strictly = ["--ignoreConfig", "--noEmit", "--strict", "--skipLibCheck", "false", "--types", ""];

function compile(file: string) {
  const flags = [...strictly, "--module", "nodenext", "--target", "es2023", "--lib", "es2023"];
  return spawnSync(process.execPath, [tsc, ...flags, file], { encoding: "utf8" });
}
