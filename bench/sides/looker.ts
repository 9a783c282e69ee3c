// Looker: the agent these benchmarks run. It looks something up in each turn but the last; its model answers by the turn it is in.

import { agent$, type EffectRuntime, ToolEffect, tool$ } from "heddle";
import { createAgentModelEffect } from "heddle/agent";
import type { LlmRequest, LlmResponse } from "heddle/llm";
import { z } from "zod";

const look = tool$({
  id: "look",
  description: "Looks something up",
  inputSchema: z.object({ turn: z.number() }),
  outputSchema: z.string(),
});

export const looker = agent$({ id: "bench", systemPrompt: "You look things up.", tools: [look] });

export const MODEL = "model";

/** Its model, which counts turns from 0, and its tool. */
export function registerLooker(
  effects: EffectRuntime,
  found: (turn: number) => string,
  answer: (turn: number, request: LlmRequest) => LlmResponse | Promise<LlmResponse>,
): void {
  effects.register(
    MODEL,
    createAgentModelEffect({
      id: "bench",
      capabilities: { tools: true },
      complete: async (request) => answer((request.messages.length - 1) / 2, request),
    }),
  );
  effects.register(look.id, new ToolEffect(({ turn }: { turn: number }) => found(turn)));
}

/** What the model says to look up. */
export function lookUp(turn: number, content: string): LlmResponse {
  return {
    content,
    toolCalls: [{ id: `call-${turn}`, name: look.id, input: { turn } }],
    stopReason: "toolUse",
  };
}
