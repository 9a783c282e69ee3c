// LangGraph.js with its SQLite checkpointer: a graph of one node, a thread an execution.

import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import Database from "better-sqlite3";
import { versionOf } from "./installed.mjs";
import { durabilityOf, synchronousName } from "./sqlite.mjs";

export function open(directory, { asItComes }) {
  const database = new Database(join(directory, "langgraph.sqlite"));
  const checkpointer = new SqliteSaver(database);
  checkpointer.setup();
  if (!asItComes) database.pragma("synchronous = FULL");
  const State = Annotation.Root({ n: Annotation(), ok: Annotation() });
  const graph = new StateGraph(State)
    .addNode("s0", ({ n }) => ({ ok: true, n }))
    .addEdge(START, "s0")
    .addEdge("s0", END)
    .compile({ checkpointer });
  const synchronous = database.pragma("synchronous", { simple: true });
  const sqlite = database.prepare("SELECT sqlite_version()").pluck().get();
  return {
    version: `${versionOf("@langchain/langgraph")}, SQLite ${sqlite}`,
    durability: durabilityOf(synchronous),
    evidence: `synchronous ${synchronousName(synchronous)}, journal_mode ${database.pragma("journal_mode", { simple: true })}`,
    configuration: `durability "sync"${asItComes ? "" : "; synchronous set to FULL"}; better-sqlite3 ${versionOf("better-sqlite3")}, which comes built, where the checkpointer asks for 12`,
    async run({ n }) {
      const { ok, n: same } = await graph.invoke(
        { n },
        { configurable: { thread_id: randomUUID() }, durability: "sync" },
      );
      return { ok, n: same };
    },
    async close() {
      database.close();
    },
  };
}
