// Puts content until the disk is full, and goes on at once when told that there is room. Prints what happened as lines of JSON.
// Argument: the directory. The parent limits the size of files and lifts the limit.
import { once } from "node:events";
import { LmdbEventStore } from "../../../../src/kernel/store/index.js";
import { ScriptedExecution } from "../../../../src/testing/scripted-execution.js";

const unhandled: unknown[] = [];
process.on("unhandledRejection", (error) => unhandled.push(error));

const [dir = ""] = process.argv.slice(2);
const room = once(process, "SIGUSR2");
const store = new LmdbEventStore({ dir, now: Date.now, createdBy: "heddle test" });
const log = await store.open(0);
const outcome = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => "done",
    (error: { readonly code?: string }) => String(error.code),
  );

async function* megabytes(count: number): AsyncGenerator<Uint8Array> {
  for (let n = 0; n < count; n++) yield Buffer.alloc(1024 * 1024, n);
}

const kept = await store.content.put("kept");
const full = [
  await outcome(store.content.put(megabytes(20))),
  await outcome(store.content.put(megabytes(20))),
];
const read = Buffer.from((await store.content.get(kept.ref)) ?? []).toString();
process.stdout.write(`${JSON.stringify({ full, read })}\n`);
const alive = setInterval(() => undefined, 1000); // A signal that may come keeps no process going.
await room;
clearInterval(alive);
const after = [
  await outcome(log.commit({ executions: [new ScriptedExecution(log.nextKey, "a").start("x")] })),
  await outcome(store.content.put(megabytes(20))),
  await outcome(store.content.delete(kept.ref)),
];
await store.close();
process.stdout.write(`${JSON.stringify({ after, unhandled: unhandled.map(String) })}\n`);
process.exitCode = 7;
