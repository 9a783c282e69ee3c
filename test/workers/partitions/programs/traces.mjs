// What a host with partition threads sees of them in its own process: listeners, globals, output, handles. Prints one line
// of JSON, and ends because nothing holds it.
//
//   node traces.mjs DIR

const say = process.stdout.write.bind(process.stdout);
let written = 0;
for (const stream of [process.stdout, process.stderr]) stream.write = () => ++written > 0;

const { exit, reallyExit, emit } = process;
const look = () => [
  ...process.eventNames().map((name) => `${String(name)}: ${process.listenerCount(name)}`),
  ...Object.getOwnPropertyNames(globalThis).filter((name) => !name.startsWith("__zod_")),
  `own functions: ${process.exit === exit && process.reallyExit === reallyExit && process.emit === emit}`,
];
const before = look();
const { defineConfig, lmdbStorage } = await import("heddle");
const flows = await import("./flows.mjs");
const imported = look();
const app = defineConfig({
  storage: lmdbStorage({ dir: process.argv[2], partitions: 2 }),
  flowModules: [flows],
  workers: { actors: 2, app: new URL("./flows.mjs", import.meta.url) },
});
await app.start();
const opened = look();
const unsubscribe = app.stores.eventStore.subscribe("quick", () => {});
for (const [flow, input] of [
  [flows.sleeping, 3_600_000],
  [flows.gated, "g"],
  [flows.stuck, {}],
])
  await app.runtime.start(flow, input);
// A thread that dies is news for the host, and no more than that.
await (await app.runtime.start(flows.dying, { how: "throw", file: `${process.argv[2]}/marks` })).result();
await (await app.runtime.start(flows.echo, 1, { executionId: "quick" })).result();
await app.stores.eventStore.read("quick");
const used = look();
unsubscribe();
await app.close({ deadlineMs: 0 });
const closed = look();

const added = (after) => after.filter((line) => !before.includes(line));
const resources = process.getActiveResourcesInfo().filter((name) => !/Pipe|TTY/.test(name));
say(
  `${JSON.stringify({
    imported: added(imported),
    opened: added(opened),
    used: added(used),
    closed: added(closed),
    resources,
    written,
  })}\n`,
);
