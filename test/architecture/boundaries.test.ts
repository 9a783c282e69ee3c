// Goal: the arrows of the design (Rooms) and the bans that keep kernel, effects and actors replayable hold for every
// file under src/. Method: parse every file and judge the facts; then show each rule a tree that breaks it, because a
// checker that finds nothing proves nothing.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { checkSources, type Finding, formatFindings, ROOMS } from "./rules.js";

const root = fileURLToPath(new URL("../..", import.meta.url));

function readTree(): ReadonlyMap<string, string> {
  const src = new URL("../../src/", import.meta.url);
  if (!existsSync(src)) return new Map();
  const files = readdirSync(src, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.[cm]?tsx?$/.test(entry.name))
    .map((entry) => `${entry.parentPath}${sep}${entry.name}`);
  return new Map(
    files.map((path) => [relative(root, path).split(sep).join("/"), readFileSync(path, "utf8")] as const),
  );
}

function check(...files: readonly (readonly [file: string, text: string])[]): readonly Finding[] {
  return checkSources(new Map(files));
}

function messages(findings: readonly Finding[]): readonly string[] {
  return findings.map(({ rule, line, message }) => `${rule}@${line}: ${message}`);
}

describe("the tree under src/", () => {
  it("keeps every arrow, ban, name and door", () => {
    expect(formatFindings(checkSources(readTree()))).toBe("");
  });

  it("has rooms that only stand on rooms below them", () => {
    const below = new Set<string>();
    for (const [room, allowed] of ROOMS) {
      expect(
        allowed.filter((name) => !below.has(name)),
        room,
      ).toEqual([]);
      below.add(room);
    }
  });
});

describe("an arrow that points up is reported", () => {
  it.each([
    ["a static import", 'import { a } from "../actors/a.js";'],
    ["a type import", 'import type { A } from "../actors/a.js";'],
    ["a re-export", 'export { a } from "../actors/a.js";'],
    ["a dynamic import", 'export const load = () => import("../actors/a.js");'],
    ["an import type", 'export type A = import("../actors/a.js").A;'],
    [
      "an import type deep inside a type",
      'export type A = Promise<Map<string, import("../actors/a.js").A>>;',
    ],
  ])("%s", (_name, text) => {
    const findings = check(["src/kernel/k.ts", text], ["src/actors/a.ts", "export const a = 1;"]);
    expect(findings.map(({ rule }) => rule)).toEqual(["arrow"]);
    expect(findings[0]?.message).toContain("kernel imports actors (src/actors/a.ts)");
  });

  it.each([
    ["effects", "actors"],
    ["actors", "workers"],
    ["workers", "app"],
    ["surface", "app"],
    ["app", "cli"],
    ["surface", "testing"],
    ["cli", "testing"],
    ["testing", "cli"],
  ])("%s to %s", (from, to) => {
    const findings = check([`src/${from}/x.ts`, `import "../${to}/y.js";`]);
    expect(findings.map(({ message }) => message.split(":")[0])).toEqual([
      `${from} imports ${to} (src/${to}/y.ts)`,
    ]);
  });

  it("and so are the package's own name, a thread's entry and an unknown room", () => {
    expect(messages(check(["src/cli/x.ts", 'import "heddle";']))).toEqual([
      'arrow@1: imports "heddle", the package itself: import the source file by its relative path.',
    ]);
    expect(check(["src/workers/x.ts", 'import "./partition.worker.js";'])[0]?.message).toContain(
      "a thread's entry",
    );
    expect(check(["src/attic/x.ts", "export {};"])[0]?.message).toContain('"attic" is no known room');
  });
});

describe("an arrow that points down is not reported", () => {
  it.each([
    ["src/actors/x.ts", 'import "../kernel/k.js"; import "../effects/e.js"; import "./agent/a.js";'],
    [
      "src/workers/partition.worker.ts",
      'import "../app/config.js"; import { parentPort } from "node:worker_threads";',
    ],
    ["src/cli/main.ts", 'import "../app/config.js"; import "../index.js"; console.log("hello");'],
    ["src/index.ts", 'export { a } from "./app/a.js";'],
  ])("%s", (file, text) => {
    expect(messages(check([file, text]))).toEqual([]);
  });
});

describe("a cycle is reported", () => {
  it("between two files of a room, also when one arrow is only a type", () => {
    const findings = check(
      ["src/kernel/a.ts", 'import { b } from "./b.js"; export type A = typeof b;'],
      ["src/kernel/b.ts", 'import type { A } from "./a.js"; export const b = 1 as unknown as A;'],
    );
    expect(messages(findings)).toEqual([
      "cycle@1: import cycle: src/kernel/a.ts -> src/kernel/b.ts -> src/kernel/a.ts. " +
        "Move what they share into a leaf module both can import.",
    ]);
  });

  it("through a folder's own index", () => {
    const findings = check(
      ["src/kernel/log/index.ts", 'export { a } from "./a.js";'],
      ["src/kernel/log/a.ts", 'import { c } from "./c.js"; export const a = c;'],
      ["src/kernel/log/c.ts", 'import { a } from "./index.js"; export const c = () => a;'],
    );
    expect(findings.map(({ rule }) => rule)).toEqual(["cycle"]);
  });

  it("but a diamond is none", () => {
    const findings = check(
      ["src/kernel/a.ts", 'import "./b.js"; import "./c.js";'],
      ["src/kernel/b.ts", 'import "./d.js";'],
      ["src/kernel/c.ts", 'import "./d.js";'],
      ["src/kernel/d.ts", "export {};"],
    );
    expect(messages(findings)).toEqual([]);
  });
});

describe("what would make a replay differ is banned in kernel, effects and actors", () => {
  const offences = [
    ["Date.now", "export const t = Date.now();"],
    ["Date.now", 'export const t = globalThis.Date["now"]();'],
    ["Date.now", "const { now } = Date; export const t = now();"],
    ["Date.now", "export const clock = { now: Date.now };"],
    ["new Date()", "export const t = new Date();"],
    ["performance.now", "export const t = performance.now();"],
    ["Math.random", "export const r = Math.random();"],
    ["setTimeout", "setTimeout(() => {}, 1);"],
    ["setTimeout", "globalThis.setTimeout(() => {}, 1);"],
    ["setTimeout", 'import { setTimeout as sleep } from "node:timers/promises"; void sleep(1);'],
    ["setInterval", "export const every = setInterval;"],
    ["randomUUID", 'import { randomUUID } from "node:crypto"; export const id = randomUUID;'],
    ["crypto.randomUUID", "export const id = crypto.randomUUID();"],
    ["process.exit", "process.exit(1);"],
    ["console", 'console.log("x");'],
  ] as const;

  it.each(["kernel", "effects", "actors"])("in %s", (room) => {
    for (const [name, text] of offences) {
      const findings = check([`src/${room}/x.ts`, `\n${text}\n`]);
      expect(new Set(findings.map(({ rule, line }) => `${rule}@${line}`)), text).toEqual(new Set(["ban@2"]));
      expect(findings[0]?.message, text).toMatch(`uses ${name}: `);
    }
  });

  it("with a message that names the replacement", () => {
    expect(messages(check(["src/actors/x.ts", "export const t = Date.now();"]))).toEqual([
      "ban@1: uses Date.now: take the time from the injected clock (its one adapter is src/app/clock.ts).",
    ]);
  });

  it("but not in the adapters, and timers not in the LMDB store", () => {
    for (const [, text] of offences) expect(messages(check(["src/app/clock.ts", text])), text).toEqual([]);
    expect(messages(check(["src/kernel/store/lmdb/x.ts", "setTimeout(() => {}, 1);"]))).toEqual([]);
    expect(check(["src/kernel/store/lmdb/x.ts", "export const t = Date.now();"])).toHaveLength(1);
  });

  it.each([
    [
      "an injected member of the same name",
      "export const go = (clock: C) => clock.setTimeout(1); interface C { setTimeout(n: number): void }",
    ],
    ["a comment or a string", '// Date.now() is banned.\nexport const text = "Math.random()";'],
    ["a type", "export type Handle = ReturnType<typeof setTimeout>;"],
    ["a date made from a value", "export const at = (ms: number) => new Date(ms);"],
  ])("but not %s", (_name, text) => {
    expect(messages(check(["src/kernel/x.ts", text]))).toEqual([]);
  });
});

describe("modules with one place are banned elsewhere", () => {
  it.each(["node:worker_threads", "node:child_process", "piscina", "comlink"])(
    "%s below workers",
    (specifier) => {
      const text = `import "${specifier}";`;
      expect(check(["src/actors/x.ts", text])[0]?.message).toContain("never know threads");
      expect(messages(check(["src/workers/x.ts", text]))).toEqual([]);
    },
  );

  it("lmdb outside its store", () => {
    const text = 'import { open } from "lmdb"; export { open };';
    expect(check(["src/workers/x.ts", text]).map(({ rule }) => rule)).toEqual(["ban"]);
    expect(messages(check(["src/kernel/store/lmdb/environment.ts", text]))).toEqual([]);
  });
});

describe("a name that says nothing is reported", () => {
  it.each([
    "src/kernel/utils.ts",
    "src/kernel/helpers/x.ts",
    "src/common/x.ts",
    "src/actors/actor-manager.ts",
    "src/app/misc.ts",
  ])("%s", (file) => {
    expect(check([file, "export {};"]).map(({ rule }) => rule)).toContain("name");
  });

  it("but a word that only contains one is none", () => {
    expect(messages(check(["src/kernel/utility-bill.ts", "export {};"]))).toEqual([]);
  });
});

describe("an index that hides its doors is reported", () => {
  it("for `export *`, and not for a named re-export or a namespace", () => {
    expect(messages(check(["src/kernel/index.ts", '\nexport * from "./a.js";']))).toEqual([
      "door@2: uses `export *`: an index lists its doors, so re-export each name.",
    ]);
    const named = 'export { a } from "./a.js";\nexport * as codec from "./codec.js";';
    expect(messages(check(["src/kernel/index.ts", named]))).toEqual([]);
  });
});
