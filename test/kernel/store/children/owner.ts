// Opens a directory for writing, says so, and commits until it is stopped. Arguments: the directory.
import { LmdbEventStore } from "../../../../src/kernel/store/index.js";
import { ScriptedExecution } from "../../../../src/testing/scripted-execution.js";

const [dir = ""] = process.argv.slice(2);
const store = new LmdbEventStore({ dir, now: Date.now, createdBy: "heddle test" });
const log = await store.open(0);
const execution = new ScriptedExecution(log.nextKey, `of-${process.pid}`);
await log.commit({ executions: [execution.start()] });
process.stdout.write(`owner ${log.epoch}\n`);
for (;;) await log.commit({ executions: [execution.advance(1)] });
