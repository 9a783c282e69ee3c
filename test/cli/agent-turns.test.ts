// Goal: whoever looks into the log of an agent sees the requests its model saw, and not the short form they are recorded in.
// Method: an agent writes a log with a real runtime; the built command reads it.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { agentLoop$ } from "../../src/agent/index.js";
import { LlmEffect, ToolEffect } from "../../src/effects/index.js";
import { agent$, defineConfig, defineFlow, flow$, lmdbStorage, tainted, tool$ } from "../../src/index.js";
import { heddle, jsonLines } from "./heddle.js";
import { temporaryLog } from "./written-log.js";

const log = temporaryLog();
const { dir } = log;
const TURNS = 30;

beforeAll(async () => {
  const look = tool$({
    id: "look",
    name: "Look",
    description: "Looks",
    inputSchema: z.looseObject({}),
    outputSchema: z.unknown(),
  });
  const flow = defineFlow(
    flow$({ id: "ask", version: "1", inputSchema: z.unknown(), outputSchema: z.unknown() }),
    (ctx) =>
      agentLoop$(
        ctx,
        {
          definition: agent$({ id: "a", tools: [look], systemPrompt: "You look." }),
          modelToolId: "model",
          maxIterations: TURNS,
        },
        { prompt: "Find\nit." },
      ),
  );
  const app = defineConfig({
    storage: lmdbStorage({ dir, sync: "commit" }),
    flows: [flow],
    execution: {
      registerEffects(effects) {
        let turn = 0;
        effects.register(
          "model",
          new LlmEffect(() => {
            turn++;
            if (turn === TURNS) return { content: "Found.", stopReason: "end" };
            const toolCalls = [{ id: `call-${turn}`, name: "look", input: { turn } }];
            return { content: `Turn ${turn}.`, toolCalls, stopReason: "toolUse" };
          }),
        );
        effects.register("look", new ToolEffect(() => ({ page: tainted("<b>", "web") })));
      },
    },
  });
  await app.start();
  await (await app.runtime.start(flow, null, { executionId: "x" })).result();
  await app.close();
});

afterAll(log.remove);

describe("turns of an agent", () => {
  it("heddle logs says how many messages each request had, and the last one; --full what is new in it", async () => {
    const { stdout } = await heddle("logs", "--db", dir, "x", "--type", "STEP_STARTED", "--to", "9");
    expect(stdout).toContain("agent:a#turn:0 (llm model)  request 1 message, 1 tool; user: Find it.");
    expect(stdout).toContain('request 3 messages, 1 tool; tool look (from web): {"tool":"look",');
    expect(stdout).not.toContain("digest");
    const full = await heddle("logs", "--db", dir, "x", "--full", "--from", "5", "--to", "9");
    expect(full.stdout.split("\n").map((line) => line.trim())).toEqual(
      expect.arrayContaining([
        "request 3 messages, 1 tool",
        "(1 before these)",
        "assistant: Turn 1.",
        "calls look { turn: 1 }",
      ]),
    );
  });

  it("heddle debug --at a turn shows the last twenty messages, --full all of them", async () => {
    const { stdout } = await heddle("debug", "--db", dir, "x", "--at", "102");
    expect(stdout).toContain("Request of agent:a#turn:25");
    expect(stdout).toContain("51 messages, 1 tool");
    expect(stdout).toContain("(31 before these)");
    expect(stdout).not.toContain("assistant: Turn 15.");
    const full = await heddle("debug", "--db", dir, "x", "--at", "102", "--full");
    expect(full.stdout).toContain("system: You look.\nuser: Find\nit.\nassistant: Turn 1.");
  });

  it("--json has the request, whole", async () => {
    const { stdout } = await heddle("debug", "--db", dir, "x", "--at", "102", "--json");
    const [{ turn }] = jsonLines(stdout) as [{ turn: { stepId: string; request: { messages: unknown[] } } }];
    expect(turn).toMatchObject({ stepId: "agent:a#turn:25", request: { system: "You look." } });
    expect(turn.request.messages).toHaveLength(51);
    const logs = await heddle("logs", "--db", dir, "x", "--json", "--full", "--from", "102", "--to", "102");
    expect(jsonLines(logs.stdout)).toMatchObject([{ type: "STEP_STARTED", request: turn.request }]);
    const short = await heddle("logs", "--db", dir, "x", "--json", "--from", "102", "--to", "102");
    expect(jsonLines(short.stdout)[0]).not.toHaveProperty("request");
  });
});
