// DBOS Transact on PostgreSQL: a workflow is a function of this process, its checkpoints are rows.

import { DBOS } from "@dbos-inc/dbos-sdk";
import { versionOf } from "./installed.mjs";
import { openPostgres } from "./postgres.mjs";

const POOL = 20;

export async function open() {
  const postgres = await openPostgres();
  if (!postgres) {
    return {
      skipped:
        "no PostgreSQL found; set PGURL, or install the server, such as with apt-get install postgresql",
    };
  }
  DBOS.setConfig({
    name: "bench",
    applicationVersion: "1",
    systemDatabaseUrl: postgres.url,
    systemDatabasePoolSize: POOL,
    logLevel: "error",
  });
  const workflow = DBOS.registerWorkflow(
    ({ n }) => DBOS.runStep(() => Promise.resolve({ ok: true, n }), { name: "s0" }),
    { name: "one-step" },
  );
  await DBOS.launch();
  return {
    version: `${versionOf("@dbos-inc/dbos-sdk")}, PostgreSQL ${postgres.version}`,
    durability: postgres.isFlushed ? "flush" : "commit",
    evidence: postgres.settings.join(", "),
    configuration: `${POOL} connections where 10 are the default; workflows are called directly, without a queue; PostgreSQL as it comes, over the loopback interface`,
    run: (order) => workflow(order),
    async close() {
      await DBOS.shutdown();
      await postgres.close();
    },
  };
}
