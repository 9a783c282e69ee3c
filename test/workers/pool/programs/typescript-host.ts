// A TypeScript host, run through a loader, whose effects are TypeScript too: what registers the loader in the threads is the
// module that the pool is given.

import { EffectPool } from "../../../../src/workers/pool/index.js";

const pool = await EffectPool.open({
  module: new URL("./typescript-effects.mjs", import.meta.url),
  entry: new URL("../../../../dist/workers/effects.worker.cjs", import.meta.url),
});
const answer = await pool.call({
  effectId: "typed",
  input: 21,
  executionId: "e",
  workflowId: "w",
  stepId: "s",
  attempt: 1,
  toolId: "typed",
  taskKind: "tool",
  idempotencyKey: "e/s",
});
await pool.close();
process.stdout.write(`typed ${String(answer)}\n`);
