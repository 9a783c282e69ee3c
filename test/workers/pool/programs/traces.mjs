// What a host sees of a pool in its own process: listeners, globals, output, handles. Prints one line of JSON.

const say = process.stdout.write.bind(process.stdout);
let written = 0;
for (const stream of [process.stdout, process.stderr]) stream.write = () => written++;

const { callOf, open } = await import("./pool.mjs");
const look = () => [
  ...process.eventNames().map((name) => `${String(name)}: ${process.listenerCount(name)}`),
  ...Object.getOwnPropertyNames(globalThis),
];
const before = look();
const pool = await open();
await Promise.all(
  ["echo", "sleep", "exit", "throwInTimer"].map((id) => pool.call(callOf(id, { ms: 5 })).catch(() => {})),
);
const during = look();
await pool.close();
const after = look();
const changes = [...during, ...after].filter((line) => !before.includes(line));
say(
  `${JSON.stringify({ changes, resources: process.getActiveResourcesInfo().filter((name) => !/Pipe|TTY/.test(name)), written })}\n`,
);
