// What the flows call, as a module of the pool exports it.

import { appendFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { guardedStream, LlmEffect, streamTokenBudget, ToolEffect } from "heddle";

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
  /** Ends its thread, the first time. */
  exit: new ToolEffect((_input, { attempt }) => {
    if (attempt === 1) process.exit(3);
    return "survived";
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
