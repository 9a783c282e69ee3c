// C-EFF-02, streams of models. Goal: a stream does not keep the thread it is consumed in from anything else that lives there. Method: a
// model that never ends and never waits for the world, and in the same thread (this one, or the only one of the pool) a short effect and
// an interval; then the model is stopped, and what it said is its answer.

import { defineConfig, defineFlow, flow$, type HeddleApp, ToolEffect } from "heddle";
import { createAgentModelEffect, type ModelResponse } from "heddle/agent";
import { expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import type { LlmStreamEvent } from "../../../src/llm/index.js";
import { until } from "../../support/until.js";
import { openApp } from "../../workers/effects/world.js";

const MODULE = new URL("./programs/model-effects.mjs", import.meta.url);
const request = { messages: [{ role: "user" as const, content: "Talk." }] };

function flows(signal: AbortSignal) {
  const talk = defineFlow(
    flow$({ id: "talk", version: "1", inputSchema: z.unknown(), outputSchema: z.unknown() }),
    (ctx) => ctx.execute({ id: "model", signal }, request),
  );
  const look = defineFlow(
    flow$({ id: "look", version: "1", inputSchema: z.unknown(), outputSchema: z.number() }),
    (ctx) => ctx.execute({ id: "ticks", outputSchema: z.number() }, null),
  );
  return { talk, look };
}

function inline({ talk, look }: ReturnType<typeof flows>): HeddleApp {
  let ticks = 0;
  const interval = setInterval(() => {
    ticks++;
  }, 1);
  onTestFinished(() => clearInterval(interval));
  const endless = {
    id: "endless",
    capabilities: { streaming: true },
    complete: () => Promise.reject(new Error("It was to stream.")),
    async *stream(): AsyncGenerator<LlmStreamEvent> {
      for (;;) yield { type: "text", delta: "word " };
    },
  };
  const app = defineConfig({
    storage: { kind: "memory" },
    flows: [talk, look],
    execution: {
      registerEffects: (effects) => {
        effects.register("model", createAgentModelEffect(endless, { stream: true }));
        effects.register("ticks", new ToolEffect(() => ticks));
      },
    },
  });
  onTestFinished(() => app.close());
  return app;
}

const PLACES = {
  "the host's thread": inline,
  "the only thread of the pool": (all: ReturnType<typeof flows>) =>
    openApp({ flowModules: [all], pool: { module: MODULE, minThreads: 1, maxThreads: 1 } }),
};

it.each(Object.entries(PLACES))(
  "a stream in %s leaves room for the rest, and stops when it is told to",
  async (_, open) => {
    const stop = new AbortController();
    const all = flows(stop.signal);
    const app = open(all);
    const talking = await app.runtime.start(all.talk, null, { executionId: "talk" });
    const ticksNow = async (): Promise<number> => (await app.runtime.start(all.look, null)).result();
    const before = await ticksNow();
    await until(async () => (await ticksNow()) > before + 5, "the thread's own interval ticks");
    expect((await app.runtime.loadState("talk")).status).toBe("running");
    stop.abort();
    const answer = (await talking.result()) as ModelResponse;
    expect(answer).toMatchObject({ interrupted: true, stopReason: "other" });
    expect(answer.content).toMatch(/^(word )+$/);
  },
);
