// Flows and effects together, for threads without a pool.

import { effects } from "./effects.mjs";

export { atOnce, inTurn } from "./flows.mjs";

export function registerEffects(registry) {
  for (const [id, effect] of Object.entries(effects)) registry.register(id, effect);
}
