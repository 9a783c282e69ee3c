// Appends to every execution of a set in each batch, and says which batch is durable. Arguments: directory, how many
// executions, "flush" or "commit".
import { LmdbEventStore } from "../../../../src/kernel/store/index.js";
import { domainEvent, ScriptedExecution } from "../../../../src/testing/scripted-execution.js";

const [dir = "", members = "", level] = process.argv.slice(2);
const sync = level === "commit" ? "commit" : "flush";
const store = new LmdbEventStore({ dir, sync, now: Date.now, createdBy: "heddle test" });
const log = await store.open(0);
const executions = Array.from({ length: Number(members) }, (_, index) => {
  return new ScriptedExecution(log.nextKey + index, `${log.epoch}-${index}`);
});
const filler = "x".repeat(3000);
for (let batch = 0; ; batch++) {
  await log.commit({
    executions: executions.map((execution) =>
      batch === 0 ? execution.start() : execution.append([domainEvent("batch", { batch, filler })]),
    ),
  });
  process.stdout.write(`${log.epoch} ${batch}\n`);
}
