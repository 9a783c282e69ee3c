import { describe, expect, test } from "vitest";
import { AgentStage, call, calls, ScriptedModel, says } from "../support/agents.js";
import { World } from "../support/world.js";

describe("a loop", () => {
  test("asks, runs tools, feeds their results back and gives the answer", async () => {
    const model = new ScriptedModel([
      calls(call("c1", "add", { a: 1, b: 2 }), call("c2", "echo", { text: "hi" })),
      { ...says("3 and hi"), usage: { inputTokens: 7, outputTokens: 2 } },
    ]);
    const tools = {
      add: ({ a, b }: { a: number; b: number }) => a + b,
      echo: ({ text }: { text: string }) => text,
    };
    const stage = new AgentStage(World.lmdb(), { model, tools });
    const state = await stage.run();
    expect(state.error).toBeUndefined();
    expect(state.variables["_output"]).toMatchInlineSnapshot(`
      {
        "content": "3 and hi",
        "iterations": 2,
        "stopReason": "end",
        "toolCallLog": [
          {
            "id": "c1",
            "input": {
              "a": 1,
              "b": 2,
            },
            "name": "add",
            "ran": true,
            "result": 3,
            "stepId": "agent:a#turn:0:tool:0",
            "turn": 0,
          },
          {
            "id": "c2",
            "input": {
              "text": "hi",
            },
            "name": "echo",
            "ran": true,
            "result": "hi",
            "stepId": "agent:a#turn:0:tool:1",
            "turn": 0,
          },
        ],
        "usage": {
          "inputTokens": 7,
          "outputTokens": 2,
        },
      }
    `);
    expect(model.messages(-1)).toMatchInlineSnapshot(`
      [
        {
          "content": "go",
          "role": "user",
        },
        {
          "content": "",
          "role": "assistant",
          "toolCalls": [
            {
              "id": "c1",
              "input": {
                "a": 1,
                "b": 2,
              },
              "name": "add",
            },
            {
              "id": "c2",
              "input": {
                "text": "hi",
              },
              "name": "echo",
            },
          ],
        },
        {
          "content": "{"tool":"add","result":3}",
          "role": "tool",
          "toolCallId": "c1",
          "toolName": "add",
        },
        {
          "content": "{"tool":"echo","result":"hi"}",
          "role": "tool",
          "toolCallId": "c2",
          "toolName": "echo",
        },
      ]
    `);
    expect(await stage.world.types()).toMatchInlineSnapshot(`
      [
        "EXECUTION_STARTED",
        "DECISION_RECORDED",
        "STEP_STARTED",
        "STEP_COMPLETED",
        "STEP_STARTED",
        "STEP_COMPLETED",
        "STEP_STARTED",
        "STEP_COMPLETED",
        "STEP_STARTED",
        "STEP_COMPLETED",
        "EXECUTION_COMPLETED",
      ]
    `);
    expect(Object.keys(state.frames)).toEqual([
      "agent:a#turn:0",
      "agent:a#turn:0:tool:0",
      "agent:a#turn:0:tool:1",
      "agent:a#turn:1",
    ]);
  });
});
