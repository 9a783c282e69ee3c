// Agents of ten turns over a model that takes 20 ms: what partition threads load, and the host registers.

import { setTimeout as delay } from "node:timers/promises";
import { defineFlow, type EffectRuntime, flow$, type RegisteredFlow } from "heddle";
import { agentLoop$ } from "heddle/agent";
import type { Order, Receipt } from "../harness/side.js";
import { checked } from "./flows.js";
import { looker, lookUp, MODEL, registerLooker } from "./looker.js";

export const TURNS = 10;
const MODEL_MS = 20;

/** Nine turns with a call of a tool each, and the answer. */
export const tenTurns: RegisteredFlow<Order, Receipt> = defineFlow(
  flow$({ id: "ten-turns", version: "1.0.0", inputSchema: checked.order, outputSchema: checked.receipt }),
  async (ctx, { n }) => {
    const config = { definition: looker, modelToolId: MODEL };
    const { iterations } = await agentLoop$(ctx, config, { prompt: "Go." });
    return { ok: iterations === TURNS, n };
  },
);

export function registerEffects(effects: EffectRuntime): void {
  registerLooker(
    effects,
    () => "It is there.",
    async (turn) => {
      await delay(MODEL_MS);
      return turn === TURNS - 1 ? { content: "Done.", stopReason: "end" } : lookUp(turn, "");
    },
  );
}
