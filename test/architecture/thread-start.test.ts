// What a thread loads is most of what starting one costs: a pool that loses a thread is without it for so long. Read from
// the built package, where types are gone and every import is one that is made.

import { readFileSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { readModule } from "./module-facts.js";

const dist = fileURLToPath(new URL("../../dist/", import.meta.url));

interface Loaded {
  readonly ours: ReadonlySet<string>;
  readonly packages: readonly string[];
}

function loadedBy(entry: string): Loaded {
  const ours = new Set<string>();
  const packages = new Set<string>();
  const follow = (file: string): void => {
    if (ours.has(file)) return;
    ours.add(file);
    for (const { specifier, isOnDemand } of readModule(file, readFileSync(dist + file, "utf8")).imports) {
      if (isOnDemand) continue;
      if (specifier.startsWith(".")) follow(posix.join(posix.dirname(file), specifier));
      else if (!specifier.startsWith("node:")) packages.add(specifier);
    }
  };
  follow(entry);
  return { ours, packages: [...packages].toSorted() };
}

it("a thread of the pool loads the codec, the packets and what runs calls, and no schema library", () => {
  const { ours, packages } = loadedBy("workers/effects.worker.js");
  expect(packages).toEqual(["comlink", "msgpackr"]);
  const rooms = new Set([...ours].map((file) => file.slice(0, file.indexOf("/"))));
  expect([...rooms].toSorted()).toEqual(["effects", "kernel", "workers"]);
  expect([...ours].filter((file) => file.includes("/store/") || file.endsWith("flow-run.js"))).toEqual([]);
  expect(ours.size).toBeLessThanOrEqual(48); // what tells a stream from other results among them
});

it("zod comes with the program that defines schemas, never with heddle alone", () => {
  for (const entry of ["index.js", "workers/partition.worker.js", "testing/index.js", "cli/main.js"])
    expect(loadedBy(entry).packages, entry).not.toContain("zod");
});
