// openworkflow on SQLite: runs are rows, a worker in this process looks for them.

import { join } from "node:path";
import { OpenWorkflow } from "openworkflow";
import { BackendSqlite } from "openworkflow/sqlite";
import { versionOf } from "./installed.mjs";
import { durabilityOf, synchronousName } from "./sqlite.mjs";

/** How often an unfinished run is looked at. Its own handle does once a second, which would hold back who waits for results. */
const LOOK_EVERY_MS = 2;

export async function open(directory, { inFlight }) {
  const backend = BackendSqlite.connect(join(directory, "openworkflow.sqlite"));
  const system = new OpenWorkflow({ backend });
  const workflow = system.defineWorkflow({ name: "one-step" }, ({ input, step }) =>
    step.run({ name: "s0" }, () => ({ ok: true, n: input.n })),
  );
  const worker = system.newWorker({ concurrency: inFlight });
  await worker.start();
  const results = lookout(backend);
  const { synchronous } = backend.db.prepare("PRAGMA synchronous").get();
  return {
    version: `${versionOf("openworkflow")}, SQLite ${process.versions.sqlite}`,
    durability: durabilityOf(synchronous),
    evidence: `synchronous ${synchronousName(synchronous)}, journal_mode ${backend.db.prepare("PRAGMA journal_mode").get().journal_mode}`,
    configuration: `a worker of concurrency ${inFlight}; results are looked for every ${LOOK_EVERY_MS} ms, oldest first, where its handle does once a second`,
    async run(order) {
      const { workflowRun } = await workflow.run(order);
      return results.of(workflowRun.id);
    },
    async close() {
      await worker.stop();
      await backend.stop();
    },
  };
}

/** Results in the order of their runs, which is about the order they end in: one read a result, not one a run and look. */
function lookout(backend) {
  const waiting = [];
  let looking = false;
  const look = async () => {
    looking = true;
    while (waiting.length > 0) {
      const [{ workflowRunId, settle }] = waiting;
      const run = await backend.getWorkflowRun({ workflowRunId });
      if (run.status === "completed") settle(waiting.shift() && run.output);
      else if (run.status === "failed")
        settle(waiting.shift() && Promise.reject(new Error(JSON.stringify(run.error))));
      else await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    }
    looking = false;
  };
  return {
    of(workflowRunId) {
      return new Promise((settle) => {
        waiting.push({ workflowRunId, settle });
        if (!looking) void look();
      });
    },
  };
}
