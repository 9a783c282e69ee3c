// The architecture as data and the checks that hold it: which room may import which, what the pure rooms may not
// touch, which names say nothing. Pure over a map of file to text, so a test can feed it a tree that breaks a rule.

import { posix } from "node:path";
import { type ModuleFacts, readModule } from "./module-facts.js";

export interface Finding {
  readonly file: string;
  readonly line: number;
  readonly rule: "arrow" | "cycle" | "ban" | "name" | "door";
  readonly message: string;
}

/** Path from the repository root, with forward slashes, to source text. */
export type Sources = ReadonlyMap<string, string>;

/**
 * Every room and the rooms it may import, lowest first. A new room stands on top of those it lists, and the order makes
 * a cycle between rooms impossible to write down. `root` is the files directly under src/: the published surface.
 */
export const ROOMS: ReadonlyMap<string, readonly string[]> = new Map([
  ["kernel", []],
  ["effects", ["kernel"]],
  ["actors", ["kernel", "effects"]],
  ["workers", ["kernel", "effects", "actors"]],
  ["surface", ["kernel"]],
  ["middleware", ["kernel", "effects"]],
  ["llm", ["kernel", "effects"]],
  ["agent", ["kernel", "effects", "middleware", "llm"]],
  ["reasoning", ["kernel", "effects", "llm", "agent"]],
  ["app", ["kernel", "effects", "actors", "workers", "surface", "middleware", "llm", "agent"]],
  ["root", ["kernel", "effects", "actors", "workers", "app", "surface", "middleware", "llm", "agent"]],
  ["testing", ["kernel", "effects", "actors", "workers", "app", "surface", "llm", "agent", "root"]],
  ["cli", ["kernel", "effects", "actors", "workers", "app", "surface", "llm", "agent", "root"]],
]);

/** Rooms whose code also runs under the simulator: time, ids and randomness reach them as values. */
const PURE_ROOMS = new Set(["kernel", "effects", "actors", "agent"]);

/** The LMDB store may wait on the disk; it still takes its time, ids and randomness from outside. */
const TIMERS_ALLOWED = "src/kernel/store/lmdb";
const TIMERS = new Set(["setTimeout", "setInterval"]);

const CLOCK = "take the time from the injected clock (its one adapter is src/app/clock.ts)";
const TIMER = "arm a timer through the injected clock (its one adapter is src/app/clock.ts)";
const CHANCE = "take the value from the injected id and randomness source (adapter: src/app/clock.ts)";
const BANNED_GLOBALS: ReadonlyMap<string, string> = new Map([
  ["Date.now", CLOCK],
  ["new Date()", CLOCK],
  ["performance.now", CLOCK],
  ["process.hrtime", CLOCK],
  ["setTimeout", TIMER],
  ["setInterval", TIMER],
  ["Math.random", CHANCE],
  ["randomUUID", CHANCE],
  ["crypto.randomUUID", CHANCE],
  ["randomBytes", CHANCE],
  ["getRandomValues", CHANCE],
  ["process.exit", "throw a HeddleError with a code; only src/cli ends a process"],
  ["console", "emit a typed inspection event; subscribers in src/app and src/cli do the printing"],
]);

const THREADS = "rooms below workers never know threads: take an injected interface such as EffectExecutor";
const BANNED_IMPORTS: ReadonlyMap<string, string> = new Map([
  ["node:worker_threads", THREADS],
  ["worker_threads", THREADS],
  ["node:child_process", THREADS],
  ["child_process", THREADS],
  ["piscina", THREADS],
  ["comlink", THREADS],
]);

const EMPTY_NAMES = new Set(["util", "utils", "helper", "helpers", "common", "misc", "manager", "managers"]);

export function checkSources(sources: Sources): readonly Finding[] {
  const modules = new Map([...sources].map(([file, text]) => [file, readModule(file, text)]));
  return [
    ...[...modules].flatMap(([file, facts]) => [
      ...checkName(file),
      ...checkArrows(file, facts),
      ...checkBans(file, facts),
      ...checkDoor(file, facts),
    ]),
    ...checkCycles(modules),
  ];
}

export function formatFindings(findings: readonly Finding[]): string {
  return findings.map(({ file, line, rule, message }) => `${file}:${line} [${rule}] ${message}`).join("\n");
}

function checkName(file: string): readonly Finding[] {
  const empty = file.split(/[/.-]/).filter((word) => EMPTY_NAMES.has(word.toLowerCase()));
  return empty.map((word) => ({
    file,
    line: 1,
    rule: "name",
    message: `"${word}" names no responsibility: name the file or folder after the one thing it holds.`,
  }));
}

function checkArrows(file: string, facts: ModuleFacts): readonly Finding[] {
  const room = roomOf(file);
  const allowed = ROOMS.get(room);
  if (allowed === undefined) {
    const message = `"${room}" is no known room: put it in ROOMS (test/architecture/rules.ts) above what it imports.`;
    return [{ file, line: 1, rule: "arrow", message }];
  }
  return facts.imports.flatMap(({ specifier, line }): readonly Finding[] => {
    const finding = (message: string): readonly Finding[] => [{ file, line, rule: "arrow", message }];
    if (specifier === "heddle" || specifier.startsWith("heddle/")) {
      return finding(
        `imports "${specifier}", the package itself: import the source file by its relative path.`,
      );
    }
    if (!specifier.startsWith(".")) return [];
    const target = resolveImport(file, specifier);
    // An entry in CommonJS is one more door in front of an entry.
    if (isWorkerEntry(target) && !file.endsWith(".cts")) {
      return finding(
        `imports ${target}, a thread's entry: start it through new URL(...) instead of importing it.`,
      );
    }
    const targetRoom = roomOf(target);
    if (targetRoom === room || allowed.includes(targetRoom)) return [];
    // A thread's entry composes what its thread needs, as src/app does for the host.
    if (isWorkerEntry(file) && targetRoom === "app") return [];
    return finding(
      `${room} imports ${targetRoom} (${target}): ${room} may import ${allowed.join(", ") || "no other room"}. ` +
        "Move the shared type down into kernel, or inject the collaborator from above.",
    );
  });
}

function checkBans(file: string, facts: ModuleFacts): readonly Finding[] {
  const findings: Finding[] = [];
  const ban = (line: number, message: string): void =>
    void findings.push({ file, line, rule: "ban", message });

  for (const { specifier, line } of facts.imports) {
    if ((specifier === "lmdb" || specifier.startsWith("lmdb/")) && !file.startsWith(TIMERS_ALLOWED)) {
      ban(
        line,
        `imports "lmdb" outside ${TIMERS_ALLOWED}: go through the store interfaces in src/kernel/store.`,
      );
    }
  }
  if (!PURE_ROOMS.has(roomOf(file)) || isWorkerEntry(file)) return findings;

  for (const { specifier, line } of facts.imports) {
    const reason = BANNED_IMPORTS.get(specifier);
    if (reason !== undefined) ban(line, `imports "${specifier}": ${reason}.`);
  }
  for (const { name, line } of facts.globals) {
    const plain = name.replace(/^(?:globalThis|global)\./, "");
    const reason = BANNED_GLOBALS.get(plain);
    if (reason === undefined || (TIMERS.has(plain) && file.startsWith(TIMERS_ALLOWED))) continue;
    ban(line, `uses ${plain}: ${reason}.`);
  }
  return findings;
}

function checkDoor(file: string, facts: ModuleFacts): readonly Finding[] {
  if (posix.basename(file) !== "index.ts") return [];
  return facts.exportAllLines.map((line) => ({
    file,
    line,
    rule: "door",
    message: "uses `export *`: an index lists its doors, so re-export each name.",
  }));
}

/** One finding per group of files that import each other, type imports included: what they share wants its own leaf. */
function checkCycles(modules: ReadonlyMap<string, ModuleFacts>): readonly Finding[] {
  const targets = new Map(
    [...modules].map(([file, { imports }]) => {
      const relative = imports.filter(({ specifier }) => specifier.startsWith("."));
      const resolved = relative.map(({ specifier }) => resolveImport(file, specifier));
      return [file, resolved.filter((target) => modules.has(target))];
    }),
  );
  const findings: Finding[] = [];
  const finished = new Set<string>();
  const path: string[] = [];

  const follow = (file: string): void => {
    const at = path.indexOf(file);
    if (at !== -1) {
      const circle = [...path.slice(at), file].join(" -> ");
      const message = `import cycle: ${circle}. Move what they share into a leaf module both can import.`;
      findings.push({ file, line: 1, rule: "cycle", message });
      return;
    }
    if (finished.has(file)) return;
    path.push(file);
    for (const target of targets.get(file) ?? []) follow(target);
    path.pop();
    finished.add(file);
  };
  for (const file of modules.keys()) follow(file);
  return findings;
}

function roomOf(file: string): string {
  const [, first = "", ...rest] = file.split("/");
  return rest.length === 0 ? "root" : first;
}

function isWorkerEntry(file: string): boolean {
  return /\.worker\.c?ts$/.test(file);
}

function resolveImport(file: string, specifier: string): string {
  return posix.join(posix.dirname(file), specifier).replace(/\.js$/, ".ts");
}
