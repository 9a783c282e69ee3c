// Effect's workflows on a cluster of one process, which keeps its messages and replies in SQLite.

import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { ClusterWorkflowEngine, SingleRunner } from "@effect/cluster";
import { SqlClient } from "@effect/sql";
import { SqliteClient } from "@effect/sql-sqlite-node";
import { Activity, Workflow } from "@effect/workflow";
import { Effect, Layer, ManagedRuntime, Schema } from "effect";
import { versionOf } from "./installed.mjs";
import { durabilityOf, synchronousName } from "./sqlite.mjs";

const Receipt = Schema.Struct({ ok: Schema.Boolean, n: Schema.Number });

const OneStep = Workflow.make({
  name: "OneStep",
  success: Receipt,
  payload: { id: Schema.String, n: Schema.Number },
  idempotencyKey: ({ id }) => id,
});

const OneStepLive = OneStep.toLayer(({ n }) =>
  Activity.make({ name: "s0", success: Receipt, execute: Effect.succeed({ ok: true, n }) }),
);

export async function open(directory, { asItComes }) {
  const store = SqliteClient.layer({ filename: join(directory, "effect.sqlite") });
  const engine = ClusterWorkflowEngine.layer.pipe(
    Layer.provideMerge(SingleRunner.layer({ runnerStorage: "memory" })),
    Layer.provideMerge(store),
  );
  const runtime = ManagedRuntime.make(OneStepLive.pipe(Layer.provideMerge(engine)));
  const query = (text) => runtime.runPromise(Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(text)));
  if (!asItComes) await query("PRAGMA synchronous = FULL");
  const [{ synchronous }] = await query("PRAGMA synchronous");
  const [{ journal_mode: journal }] = await query("PRAGMA journal_mode");
  const [{ sqlite }] = await query("SELECT sqlite_version() AS sqlite");
  return {
    version: `${versionOf("effect")}, workflow ${versionOf("@effect/workflow")}, SQLite ${sqlite}`,
    durability: durabilityOf(synchronous),
    evidence: `synchronous ${synchronousName(synchronous)}, journal_mode ${journal}`,
    configuration: `ClusterWorkflowEngine over SingleRunner, runners kept in memory${asItComes ? "" : "; synchronous set to FULL"}`,
    run: ({ n }) => runtime.runPromise(OneStep.execute({ id: randomUUID(), n })),
    close: () => runtime.dispose(),
  };
}
