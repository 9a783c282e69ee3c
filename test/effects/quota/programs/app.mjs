// A module for partition threads and for the pool: flows that call one effect with each of their inputs, and what they call.

import { appendFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { defineFlow, flow$, guardedStream, LlmEffect, streamTokenBudget, ToolEffect } from "heddle";
import { z } from "zod";

const anything = z.unknown();
const flow = (id, run) =>
  defineFlow(flow$({ id, version: "1", inputSchema: anything, outputSchema: anything }), run);
const caught = (error) => error.code;

/** One after the other. */
export const inTurn = flow("in turn", async (ctx, { toolId = "use", inputs }) => {
  const came = [];
  for (const [i, input] of inputs.entries())
    came.push(await ctx.execute({ id: `${toolId}#${i}`, toolId }, input).catch(caught));
  return came;
});
/** All of them. */
export const atOnce = flow("at once", (ctx, { toolId = "use", inputs }) =>
  Promise.all(inputs.map((input, i) => ctx.execute({ id: `${toolId}#${i}`, toolId }, input).catch(caught))),
);

/** The pieces of text of an event stream. */
async function* textOf(response) {
  let rest = "";
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split("\n\n");
    rest = lines.pop();
    for (const line of lines) yield line.slice("data: ".length);
  }
}

const guard = streamTokenBudget({ maxTokens: 100 });

export const effects = {
  /** Uses what it is told to, in as many reports. */
  use: new ToolEffect(async ({ reports = [], ms = 0, file, fails }, { executionId, stepId, meter }) => {
    if (file) appendFileSync(file, `${executionId} ${stepId}\n`);
    for (const report of reports) {
      meter(report);
      if (ms > 0) await delay(ms);
    }
    if (fails) throw new Error("after all");
    return "used";
  }),
  /** A model that says what it used. */
  model: new LlmEffect(({ usage, reports = [] }, { meter }) => {
    for (const report of reports) meter(report);
    return { text: "hello", usage };
  }),
  /** A model whose answer comes in pieces. */
  stream: new LlmEffect(async ({ url }, { signal }) => {
    let text = "";
    for await (const piece of guardedStream(textOf(await fetch(url, { signal })), guard)) text += piece;
    return text;
  }),
};

export function registerEffects(registry) {
  for (const [id, effect] of Object.entries(effects)) registry.register(id, effect);
}
