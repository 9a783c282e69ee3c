// What a host sees of heddle in its own process: listeners, globals, output, handles. Prints one line of JSON, and ends
// because nothing holds it, not because it is told to.
//
//   node traces.mjs DIR

import { setTimeout as delay } from "node:timers/promises";

const written = { stdout: 0, stderr: 0 };
const say = process.stdout.write.bind(process.stdout);
for (const stream of ["stdout", "stderr"]) {
  const write = process[stream].write.bind(process[stream]);
  process[stream].write = (...args) => {
    written[stream]++;
    return write(...args);
  };
}

const FUNCTIONS = {
  process: [
    "exit",
    "reallyExit",
    "kill",
    "on",
    "emit",
    "nextTick",
    "abort",
    "_fatalException",
    "emitWarning",
  ],
  globalThis: [
    "setTimeout",
    "setInterval",
    "setImmediate",
    "queueMicrotask",
    "fetch",
    "structuredClone",
    "Promise",
    "Error",
    "Buffer",
    "Date",
    "Math",
  ],
  console: ["log", "error", "warn", "info"],
};
const owners = { process, globalThis, console };

function look() {
  const functions = new Map();
  for (const [owner, names] of Object.entries(FUNCTIONS)) {
    for (const name of names) functions.set(`${owner}.${name}`, owners[owner][name]);
  }
  functions.set("Math.random", Math.random);
  functions.set("Date.now", Date.now);
  functions.set("Error.prepareStackTrace", Error.prepareStackTrace);
  functions.set("Error.stackTraceLimit", Error.stackTraceLimit);
  functions.set("process.env", JSON.stringify(process.env));
  functions.set("process.title", process.title);
  functions.set("umask", process.umask());
  return {
    listeners: Object.fromEntries(
      process.eventNames().map((name) => [String(name), process.listenerCount(name)]),
    ),
    globals: Object.getOwnPropertyNames(globalThis).concat(
      Object.getOwnPropertySymbols(globalThis).map(String),
    ),
    prototypes: [Object, Array, Promise, Function, String, Map, Set, Error, Buffer].map(
      (builtin) => `${builtin.name}: ${Object.getOwnPropertyNames(builtin.prototype).length}`,
    ),
    functions,
  };
}

function changes(before, after) {
  const changed = [];
  for (const name of new Set([...Object.keys(before.listeners), ...Object.keys(after.listeners)])) {
    const [was, is] = [before.listeners[name] ?? 0, after.listeners[name] ?? 0];
    if (was !== is) changed.push(`listeners of ${name}: ${was} -> ${is}`);
  }
  for (const name of after.globals) if (!before.globals.includes(name)) changed.push(`global ${name}`);
  for (const name of before.globals) if (!after.globals.includes(name)) changed.push(`no global ${name}`);
  after.prototypes.forEach((prototype, i) => prototype !== before.prototypes[i] && changed.push(prototype));
  for (const [name, value] of after.functions) if (before.functions.get(name) !== value) changed.push(name);
  return changed;
}

const before = look();
const { defineConfig, defineFlow, flow$, handler$, lmdbStorage, step$ } = await import("heddle");
await import("heddle/surface");
const imported = changes(before, look());
const resourcesAfterImport = process
  .getActiveResourcesInfo()
  .filter((resource) => !/TTY|Pipe/.test(resource));

const { z } = await import("zod");
const anything = z.unknown();
const step = (id, run, options) =>
  step$({ id, inputSchema: anything, outputSchema: anything, handler: handler$(run), ...options });
const flow = (id, run) =>
  defineFlow(flow$({ id, version: "1", inputSchema: anything, outputSchema: anything }), run);

// Everything that could keep a process alive: sleeps, gates with a timeout, retries to come, attempts that never end, with
// and without a timeout of their own, deciders that think.
const stuckFlows = [
  flow("sleeping", (ctx) => ctx.sleep(3_600_000)),
  flow("gated", (ctx) => ctx.suspend({ on: "go", timeout: 3_600_000 })),
  flow("retrying", (ctx) =>
    ctx.run(
      step("failing", () => Promise.reject(new Error("not now")), {
        retry: { maxAttempts: 9, baseDelayMs: 3_600_000, maxDelayMs: 3_600_000 },
      }),
      0,
    ),
  ),
  flow("stuck", (ctx) =>
    ctx.run(
      step("stuck", () => new Promise(() => {})),
      0,
    ),
  ),
  flow("stuck with a timeout", (ctx) =>
    ctx.run(
      step("stuck", () => new Promise(() => {}), { timeoutMs: 3_600_000 }),
      0,
    ),
  ),
  flow("undecided", (ctx) => ctx.decide("d", () => new Promise(() => {}))),
];
const quick = flow("quick", (ctx, n) =>
  ctx.run(
    step("work", () => n),
    0,
  ),
);

const app = defineConfig({ storage: lmdbStorage({ dir: process.argv[2] }), flows: [quick, ...stuckFlows] });
await app.start();
const opened = changes(before, look());
const unsubscribe = app.stores.eventStore.subscribe("quick", () => {});
await Promise.all(stuckFlows.map((each) => app.runtime.start(each, 0)));
await (await app.runtime.start(quick, 1, { executionId: "quick" })).result();
await delay(20);
const used = changes(before, look());
unsubscribe();
// One more whose timer is made durable while the log is being closed.
app.runtime.start(stuckFlows[0], 0).catch(() => {});
await app.close({ deadlineMs: 0 });
const closed = changes(before, look());

const { stdout, stderr } = written;
say(`${JSON.stringify({ imported, resourcesAfterImport, opened, used, closed, stdout, stderr })}\n`);
