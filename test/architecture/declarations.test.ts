import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { describe, expect, it } from "vitest";

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
});
