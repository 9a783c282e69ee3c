// The owner of a directory in a thread. Data: { dir }.
import { parentPort, workerData } from "node:worker_threads";
import { register } from "tsx/esm/api";

register();
const { LmdbEventStore } = await import("../../../../src/kernel/store/index.ts");
const { ScriptedExecution } = await import("../../../../src/testing/scripted-execution.ts");

const store = new LmdbEventStore({ dir: workerData.dir, now: Date.now, createdBy: "heddle test" });
const log = await store.open(0);
const execution = new ScriptedExecution(log.nextKey, "of-thread");
await log.commit({ executions: [execution.start()] });
parentPort.postMessage(log.epoch);
for (;;) await log.commit({ executions: [execution.advance(1)] });
