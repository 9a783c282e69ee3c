// A pool as the programs of these tests open it.

import { EffectPool } from "../../../../dist/workers/pool/index.js";

export const open = (options = {}) =>
  EffectPool.open({ module: new URL("./effects.mjs", import.meta.url), maxThreads: 2, ...options });

export const callOf = (effectId, input) => ({
  effectId,
  input,
  executionId: "e",
  workflowId: "w",
  stepId: "s",
  attempt: 1,
  toolId: effectId,
  taskKind: "tool",
  idempotencyKey: "e/s",
});
