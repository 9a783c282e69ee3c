// C-AGT-06, readers of a long answer. Goal: whoever reads it may come and go and take its time. Method: 5,000 chunks are written while a
// tool runs, by a flow (`ctx.stream`) and by a model (`ctx.emit` of its deltas); some readers leave at random and come back with their
// last position, one stands still. What each has put together is compared with the log.

import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { chunkDeltas, createAgentModelEffect } from "../../../src/agent/index.js";
import {
  defineConfig,
  defineFlow,
  type EventEnvelope,
  type EventStore,
  flow$,
  followEvents,
  type LoomApp,
  lmdbStorage,
  type StorageConfig,
  ToolEffect,
} from "../../../src/index.js";
import { type LlmStreamEvent, scriptedProvider } from "../../../src/llm/index.js";
import { type Random, seededRandom } from "../../crash/random.js";
import { latch } from "../../support/latch.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";
import { until } from "../../support/until.js";

const CHUNKS = 5_000;
const CHUNKS_A_TURN = 250;
const chunk = (n: number): string => `${n}. `;
const TEXT = Array.from({ length: CHUNKS }, (_, n) => chunk(n)).join("");

const reply = defineFlow(
  flow$({ id: "reply", version: "1", inputSchema: z.enum(["flow", "model"]), outputSchema: z.unknown() }),
  async (ctx, by) => {
    const tool = ctx.execute({ id: "tool" }, null);
    if (by === "model")
      await ctx.execute({ id: "model" }, { messages: [{ role: "user" as const, content: "Count." }] });
    else
      for (let n = 0; n < CHUNKS; n++) {
        ctx.stream("Reply", chunk(n), n === CHUNKS - 1);
        if (n % CHUNKS_A_TURN === 0) await ctx.execute({ id: `pause#${n}`, toolId: "pause" }, null);
      }
    await ctx.execute({ id: "told" }, null);
    return tool;
  },
);

interface Scene {
  readonly app: LoomApp;
  /** Whether the tool's signal was aborted. */
  readonly wasAborted: () => boolean;
  readonly isTold: () => boolean;
  endTool(): void;
}

async function scene(storage: StorageConfig, by: "flow" | "model"): Promise<Scene> {
  const toolEnds = latch();
  let aborted = false;
  let told = false;
  const provider = {
    ...scriptedProvider([]),
    async *stream(): AsyncGenerator<LlmStreamEvent> {
      for (let n = 0; n < CHUNKS; n++) {
        yield { type: "text", delta: chunk(n) };
        if (n % CHUNKS_A_TURN === 0) await nextTurn();
      }
      yield { type: "end", response: { content: TEXT, stopReason: "end" } };
    },
  };
  const lasting = chunkDeltas((text, ctx) => ctx.emit("Reply", { delta: text }), { minChars: 1 });
  const app = defineConfig({
    storage,
    flows: [reply],
    execution: {
      registerEffects: (effects) => {
        effects.register("model", createAgentModelEffect(provider, { onDelta: lasting.push }));
        effects.register("pause", new ToolEffect(() => nextTurn()));
        effects.register(
          "told",
          new ToolEffect(() => {
            told = true;
          }),
        );
        effects.register(
          "tool",
          new ToolEffect(async (_, ctx) => {
            ctx.signal.addEventListener("abort", () => {
              aborted = true;
            });
            await toolEnds.opened;
            return "done";
          }),
        );
      },
    },
  });
  onTestFinished(() => app.close());
  await app.runtime.start(reply, by, { executionId: "x" });
  return { app, wasAborted: () => aborted, isTold: () => told, endTool: toolEnds.open };
}

/** Reads to the end, leaving at random. */
async function restlessReader(store: EventStore, random: Random): Promise<EventEnvelope[]> {
  const seen: EventEnvelope[] = [];
  for (;;) {
    const patience = Math.floor(random() * 400);
    const from = (seen.at(-1)?.sequence ?? -1) + 1;
    let taken = 0;
    for await (const event of followEvents(store, "x", { from })) {
      seen.push(event);
      if (event.type === "EXECUTION_COMPLETED") return seen;
      if (random() < 0.02) await nextTurn();
      if (++taken > patience) break;
    }
  }
}

const textOf = (events: readonly EventEnvelope[]): string =>
  events
    .filter(({ type }) => type === "Reply")
    .map(({ payload }) => (payload as { delta: string }).delta)
    .join("");

const STORAGES: readonly [string, () => StorageConfig][] = [
  ["in memory", () => ({ kind: "memory" })],
  ["in LMDB", () => lmdbStorage({ dir: temporaryDirectory(), sync: "commit" })],
];

describe.each(STORAGES)("5,000 chunks %s, a tool running (C-AGT-06)", (_, storage) => {
  it.each(["flow", "model"] as const)(
    "written by a %s reach readers that come and go, once and in order",
    async (by) => {
      const { app, endTool, wasAborted, isTold } = await scene(storage(), by);
      const { eventStore } = app.stores;
      const readers = [1, 2, 3, 4].map((seed) => restlessReader(eventStore, seededRandom(seed)));
      await until(isTold, "all chunks are written");
      expect(wasAborted()).toBe(false);
      endTool();
      const state = await app.runtime.handle("x").waitForCompletion();
      expect(state).toMatchObject({ status: "completed", variables: { _output: "done" } });
      const log = await eventStore.read("x");
      expect(textOf(log)).toBe(TEXT);
      for (const seen of await Promise.all(readers)) {
        expect(seen.map(({ sequence }) => sequence)).toEqual(log.map(({ sequence }) => sequence));
        expect(textOf(seen)).toBe(TEXT);
        expect(seen.at(-1)?.type).toBe("EXECUTION_COMPLETED");
      }
      if (by === "flow")
        expect(log.filter(({ payload }) => (payload as { done?: boolean }).done)).toMatchObject([
          { payload: { delta: chunk(CHUNKS - 1) } },
        ]);
    },
  );

  it("are not kept for a reader that stands still, and it misses none of them", async () => {
    const { app, endTool } = await scene(storage(), "flow");
    const { eventStore } = app.stores;
    const handedOut: number[] = [];
    const counted: Pick<EventStore, "find" | "read" | "subscribe"> = {
      find: (id) => eventStore.find(id),
      subscribe: (...given) => eventStore.subscribe(...given),
      read: async (...given) => {
        const page = await eventStore.read(...given);
        handedOut.push(page.length);
        return page;
      },
    };
    const reader = followEvents(counted, "x");
    const first = await reader.next();
    endTool();
    await app.runtime.handle("x").waitForCompletion();
    expect(handedOut).toHaveLength(1);
    expect(handedOut[0]).toBeLessThanOrEqual(256);
    const seen = [first.value as EventEnvelope];
    for await (const event of reader) seen.push(event);
    expect(textOf(seen)).toBe(TEXT);
    expect(Math.max(...handedOut)).toBeLessThanOrEqual(256);
  });
});

describe("a reader", () => {
  it("that goes takes nothing with it: only a cancel reaches the tool's signal", async () => {
    const { app, wasAborted, endTool } = await scene({ kind: "memory" }, "flow");
    const leaving = new AbortController();
    const seen: EventEnvelope[] = [];
    for await (const event of followEvents(app.stores.eventStore, "x", { signal: leaving.signal })) {
      seen.push(event);
      if (seen.length === 100) leaving.abort();
    }
    expect(seen).toHaveLength(100);
    await nextTurn();
    expect(wasAborted()).toBe(false);
    expect((await app.runtime.loadState("x")).status).toBe("running");
    await app.runtime.cancel("x", "enough");
    expect(wasAborted()).toBe(true);
    endTool();
  });

  it("may wait for an execution that has not started, and leave while it waits", async () => {
    const { app, endTool } = await scene({ kind: "memory" }, "flow");
    const { eventStore } = app.stores;
    const leaving = new AbortController();
    const nobody = followEvents(eventStore, "nobody", { signal: leaving.signal }).next();
    const early = followEvents(eventStore, "y").next();
    await app.runtime.start(reply, "flow", { executionId: "y" });
    expect((await early).value).toMatchObject({ type: "EXECUTION_STARTED", sequence: 0 });
    leaving.abort();
    expect(await nobody).toEqual({ done: true, value: undefined });
    endTool();
  });

  it("that comes back behind the end is told that there is no more", async () => {
    const { app, endTool } = await scene({ kind: "memory" }, "flow");
    endTool();
    const { sequence } = await app.runtime.handle("x").waitForCompletion();
    const reader = followEvents(app.stores.eventStore, "x", { from: sequence + 10 });
    expect(await reader.next()).toEqual({ done: true, value: undefined });
  });
});
