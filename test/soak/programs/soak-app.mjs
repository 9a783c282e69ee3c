// The flows of a soak, for its host and for its partition threads: the mixed flow of the crash tests, calls of the pool, an agent,
// and an execution that waits until somebody cancels it. What each comes to depends on its number alone (../expected.ts).

import { agent$, defineFlow, flow$, handler$, step$, tool$ } from "heddle";
import { agentLoop$ } from "heddle/agent";
import { z } from "zod";
import { count } from "../../crash/programs/counter.mjs";
import { at } from "../../crash/programs/death.mjs";
import { effects as pooledEffects } from "./soak-effects.mjs";

export { mixed } from "../../crash/programs/mixed-flow.mjs";

const numbers = z.object({ n: z.number() });
const anything = z.unknown();
const flowOf = (id, body) =>
  defineFlow(flow$({ id, version: "1", inputSchema: numbers, outputSchema: anything }), body);

export const pooled = flowOf("pooled", async (ctx, { n }) => {
  const retry = { maxAttempts: 8, baseDelayMs: 3 };
  const parts = [0, 1, 2].map((part) => [
    { id: `crunch#${part}`, toolId: "crunch", retry },
    { n, part },
  ]);
  return { n, parts: await ctx.parallel(parts) };
});

const before = step$({
  id: "before",
  inputSchema: numbers,
  outputSchema: z.number(),
  handler: handler$(({ n }, ctx) => {
    count("start", ctx);
    count("finish", ctx);
    return n;
  }),
});

export const stopped = flowOf("stopped", async (ctx, { n }) => {
  await ctx.run(before, { n });
  await ctx.suspend({ on: "Never" });
});

const clerk = agent$({
  id: "clerk",
  tools: [tool$({ id: "look", description: "Looks", inputSchema: numbers, outputSchema: anything })],
});

export const agent = flowOf("agent", async (ctx, { n }) => {
  const { content, iterations } = await agentLoop$(
    ctx,
    { definition: clerk, modelToolId: "model" },
    { prompt: `look ${n}` },
  );
  return { n, content, iterations };
});

/** Asks for a look three times, then says what it saw last. */
function answer({ messages }) {
  const seen = messages.filter(({ role }) => role === "tool");
  const n = Number(messages[0].content.split(" ")[1]);
  if (seen.length === 3) return { content: `done with ${n}`, stopReason: "end" };
  return { content: "", toolCalls: [{ id: `c${seen.length}`, name: "look", input: { n: n + seen.length } }] };
}

const told = (kind, run) => ({
  kind,
  execute(input, ctx) {
    count("start", ctx);
    at("effectStarted");
    const result = run(input);
    count("finish", ctx);
    at("effectFinished");
    return result;
  },
});
const agentEffects = {
  model: told("llm", answer),
  look: told("tool", ({ n }) => ({ saw: n * 2, text: "what there is to see ".repeat(200) })),
};

/** HEDDLE_SOAK_POOL: the pool has its effects then. */
export function registerEffects(registry) {
  const here = process.env.HEDDLE_SOAK_POOL === "1" ? agentEffects : { ...agentEffects, ...pooledEffects };
  for (const [id, effect] of Object.entries(here)) registry.register(id, effect);
}
