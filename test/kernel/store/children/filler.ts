// Commits results of one megabyte until the store fails, and goes on when told that there is room. Prints what happened
// as lines of JSON. Arguments: the directory, and
// "close" to close instead. The parent limits the size of files and lifts the limit.
import { once } from "node:events";
import { toWire } from "../../../../src/kernel/codec/index.js";
import { HeddleError } from "../../../../src/kernel/errors.js";
import { LmdbEventStore } from "../../../../src/kernel/store/index.js";
import { ScriptedExecution } from "../../../../src/testing/scripted-execution.js";

const unhandled: unknown[] = [];
process.on("unhandledRejection", (error) => unhandled.push(error));

const [dir = "", mode] = process.argv.slice(2);
const room = once(process, "SIGUSR2");
const store = new LmdbEventStore({ dir, now: Date.now, createdBy: "heddle test" });
const log = await store.open(0);
const published: string[] = [];
const acknowledged: string[] = [];
const refused: string[] = [];
const errors: { code: string; retryable: boolean; cause: string }[] = [];
let key = log.nextKey;

/** One caller: starts an execution with a large result. */
async function run(): Promise<void> {
  const execution = new ScriptedExecution(key++);
  store.subscribe(execution.id, ({ executionId }) => void published.push(executionId));
  try {
    await log.commit({ executions: [execution.start(toWire("x".repeat(1_000_000)))] });
    acknowledged.push(execution.id);
  } catch (error) {
    if (!(error instanceof HeddleError)) throw error;
    refused.push(execution.id);
    errors.push({ code: error.code, retryable: error.retryable, cause: String(error.cause) });
  }
}

while (refused.length === 0) await Promise.all([run(), run(), run()]);
for (let attempt = 0; attempt < 20; attempt++) await run();
const found = async (): Promise<string[]> => (await store.list({ limit: 1000 })).map(({ id }) => id);
process.stdout.write(
  `${JSON.stringify({ acknowledged, refused, published, errors, found: await found() })}\n`,
);
if (mode === "close") {
  await store.close();
} else {
  const alive = setInterval(() => undefined, 1000); // A signal that may come keeps no process going.
  await room;
  clearInterval(alive);
  await log.commit({ executions: [] });
  await Promise.all([run(), run(), run()]);
  process.stdout.write(`${JSON.stringify({ acknowledged, refused, found: await found() })}\n`);
  await store.close();
}
process.stdout.write(`${JSON.stringify({ unhandled: unhandled.map(String) })}\n`);
process.exitCode = 7;
