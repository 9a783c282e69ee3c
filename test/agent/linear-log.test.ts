// Goal: what is true of forms is true of logs: an agent's log is linear in its conversation, and every request stands in it, also when
// processes came and went in between.
// Method: agents of many turns in a world that can be restarted; what the model's effect was given is held against what is read back.

import { describe, expect, it } from "vitest";
import { readTurnRequest } from "../../src/agent/index.js";
import { packRecord, toWire } from "../../src/kernel/codec/index.js";
import type { EventEnvelope } from "../../src/kernel/index.js";
import { AgentStage, call, calls, ScriptedModel, says } from "../support/agents.js";
import { World } from "../support/world.js";

const packedBytes = (value: unknown): number => packRecord(toWire(value)).length;
const logBytes = (events: readonly EventEnvelope[]): number =>
  events.reduce((sum, { payload }) => sum + packedBytes(payload), 0);

const turnIds = (events: readonly EventEnvelope[]): string[] =>
  events.flatMap(({ type, payload }) => {
    const { stepId } = payload as { readonly stepId?: string };
    return type === "STEP_STARTED" && stepId && /#turn:\d+$/.test(stepId) ? [stepId] : [];
  });

/** A model that calls one tool a turn, and answers at last. */
function looks(turns: number): ScriptedModel {
  return new ScriptedModel(({ messages }) => {
    const turn = messages.filter(({ role }) => role === "assistant").length;
    return turn === turns - 1 ? says("Done.") : calls(call(`call-${turn}`, "look", { turn }));
  });
}

describe("the log of an agent", () => {
  it("C-LOG-05 (a): 300 turns with a tool result of 20 kB each grow it by less than three times what is new", async () => {
    const turns = 300;
    const page = "p".repeat(20_000);
    const stage = new AgentStage(World.memory(), {
      model: looks(turns),
      tools: { look: ({ turn }: { turn: number }) => ({ turn, page }) },
      config: { maxIterations: turns, warnTranscriptBytes: false },
    });
    expect(await stage.run()).toMatchObject({ status: "completed" });
    const events = await stage.world.events();
    const isNew = (turns - 1) * packedBytes({ turn: 1, page });
    expect(logBytes(events)).toBeLessThan(1.1 * isNew);
    // Linear: the second half costs what the first half costs, but for the result, which has a log of its calls.
    const middle = events.length >> 1;
    expect(logBytes(events.slice(middle, -1))).toBeLessThan(1.05 * logBytes(events.slice(0, middle)));
  });

  it.each(["memory", "lmdb"] as const)(
    "gives back every request as its model saw it, after a crash at each turn, from events and from the state (%s)",
    async (kind) => {
      const turns = 8;
      const model = looks(turns);
      const stage = new AgentStage(World[kind](), {
        model,
        tools: { look: ({ turn }: { turn: number }) => ({ turn, rows: ["a", { b: turn }] }) },
        config: { systemPrompt: "You look." },
      });
      let process = await stage.start();
      for (let turn = 1; turn < turns; turn++) {
        await stage.world.when(() => model.asked >= turn);
        process = await stage.open();
      }
      await process.finish("x");
      const events = await stage.world.events();
      const state = await process.runtime.loadState("x");
      const ids = turnIds(events);
      expect(ids).toHaveLength(turns);
      const given = new Map(model.requests.map((request) => [request.messages.length, request]));
      for (const [turn, stepId] of ids.entries()) {
        const request = readTurnRequest(events, stepId);
        expect(request).toEqual(given.get(1 + 2 * turn));
        expect(readTurnRequest(state, stepId)).toEqual(request);
      }
    },
  );
});
