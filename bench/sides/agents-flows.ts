// Agents of ten turns over a model that takes 20 ms: what partition threads load, and the host registers.

import { setTimeout as delay } from "node:timers/promises";
import {
  agent$,
  defineFlow,
  type EffectRuntime,
  flow$,
  type RegisteredFlow,
  ToolEffect,
  tool$,
} from "heddle";
import { agentLoop$, createAgentModelEffect } from "heddle/agent";
import { z } from "zod";
import type { Order, Receipt } from "../harness/side.js";
import { checked } from "./flows.js";

export const TURNS = 10;
const MODEL_MS = 20;

const look = tool$({
  id: "look",
  description: "Looks something up",
  inputSchema: z.object({ turn: z.number() }),
  outputSchema: z.string(),
});
const definition = agent$({ id: "bench", systemPrompt: "You look things up.", tools: [look] });

/** Nine turns with a call of a tool each, and the answer. */
export const tenTurns: RegisteredFlow<Order, Receipt> = defineFlow(
  flow$({ id: "ten-turns", version: "1.0.0", inputSchema: checked.order, outputSchema: checked.receipt }),
  async (ctx, { n }) => {
    const { iterations } = await agentLoop$(ctx, { definition, modelToolId: "model" }, { prompt: "Go." });
    return { ok: iterations === TURNS, n };
  },
);

export function registerEffects(effects: EffectRuntime): void {
  effects.register(
    "model",
    createAgentModelEffect({
      id: "bench",
      capabilities: { tools: true },
      async complete({ messages }) {
        await delay(MODEL_MS);
        const turn = (messages.length - 1) / 2;
        if (turn === TURNS - 1) return { content: "Done.", stopReason: "end" };
        const toolCalls = [{ id: `call-${turn}`, name: "look", input: { turn } }];
        return { content: "", toolCalls, stopReason: "toolUse" };
      },
    }),
  );
  effects.register("look", new ToolEffect(() => "It is there."));
}
