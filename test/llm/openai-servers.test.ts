// Servers that speak like OpenAI, and not quite: what they leave out, and how they fail.

import { describe, expect, it } from "vitest";
import { type LlmStreamEvent, OpenAiProvider } from "../../src/llm/index.js";
import { collect } from "../support/collect.js";
import { json, llmServer, type Reply, sse } from "./wire/server.js";

const request = { messages: [{ role: "user", content: "hello" }] } as const;
const frame = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`;
const said = (delta: object, finish_reason: string | null = null): string =>
  frame({ model: "m", choices: [{ delta, finish_reason }] });

async function serving(reply: Reply): Promise<OpenAiProvider> {
  const server = await llmServer(() => reply);
  return new OpenAiProvider({ apiKey: "k", baseUrl: server.url });
}

async function endOf(stream: AsyncIterable<LlmStreamEvent>) {
  const met = await collect(stream);
  const last = met.at(-1);
  if (last?.type !== "end") throw new Error("no end");
  return { response: last.response, met };
}

describe("calls in a stream", () => {
  const piece = (call: object): string => said({ tool_calls: [call] });

  it.each([
    ["have no index", (_nth: number) => ({})],
    ["are counted from somewhere else", (nth: number) => ({ index: nth + 7 })],
    ["are counted from nought", (nth: number) => ({ index: nth })],
  ])("%s", async (_title, numbered) => {
    const provider = await serving(
      sse([
        piece({ ...numbered(0), id: "a", type: "function", function: { name: "look", arguments: "" } }),
        piece({ ...numbered(0), function: { arguments: '{"at":' } }),
        piece({ ...numbered(0), function: { arguments: "1}" } }),
        piece({ ...numbered(1), id: "b", type: "function", function: { name: "now", arguments: "{}" } }),
        said({}, "tool_calls"),
        "data: [DONE]\n\n",
      ]),
    );
    const { response, met } = await endOf(provider.stream(request));
    expect(response).toEqual({
      content: "",
      toolCalls: [
        { id: "a", name: "look", input: { at: 1 } },
        { id: "b", name: "now", input: {} },
      ],
      stopReason: "toolUse",
      model: "m",
    });
    expect(met.flatMap((event) => (event.type === "toolCall" ? event.index : []))).toEqual([0, 0, 0, 1]);
  });
});

it("an end without [DONE], without figures and without a model is an end", async () => {
  const provider = await serving(
    sse([
      frame({ choices: [{ delta: { content: "hi" } }] }),
      frame({ choices: [{ finish_reason: "stop" }] }),
    ]),
  );
  expect((await endOf(provider.stream(request))).response).toEqual({
    content: "hi",
    stopReason: "end",
    model: "",
  });
});

describe("failures", () => {
  it.each<[string, Reply, string, boolean]>([
    [
      "used-up credit",
      json({ error: { message: "x", type: "insufficient_quota", code: "insufficient_quota" } }, 429),
      "LLM_REQUEST_REFUSED",
      false,
    ],
    [
      "a context in other words",
      json({ error: { message: "request exceeds the available context size" } }, 400),
      "LLM_CONTEXT_TOO_LONG",
      false,
    ],
    [
      "a country",
      json({ error: { message: "x", code: "unsupported_country_region_territory" } }, 403),
      "LLM_UNAUTHENTICATED",
      false,
    ],
    [
      "a gateway's page",
      { status: 502, headers: { "content-type": "text/html" }, pieces: ["<html>"] },
      "LLM_UNAVAILABLE",
      true,
    ],
    ["a time-out", json({}, 408), "LLM_UNAVAILABLE", true],
    ["a redirect to nowhere", { status: 304, pieces: [] }, "LLM_RESPONSE_INVALID", true],
  ])("%s", async (_title, reply, code, retryable) => {
    const provider = await serving(reply);
    await expect(provider.complete(request)).rejects.toMatchObject({ code, retryable });
  });

  it.each<[object, string]>([
    [{ code: 502, message: "upstream" }, "LLM_UNAVAILABLE"],
    [{ code: "rate_limit_exceeded", message: "x" }, "LLM_RATE_LIMITED"],
    [{ code: "context_length_exceeded", message: "x" }, "LLM_CONTEXT_TOO_LONG"],
    [{ type: "invalid_request_error", message: "x" }, "LLM_REQUEST_REFUSED"],
    [{ message: "x" }, "LLM_UNAVAILABLE"],
  ])("in a stream: %o", async (error, code) => {
    const provider = await serving(sse([said({ content: "half" }), frame({ error })]));
    await expect(endOf(provider.stream(request))).rejects.toMatchObject({ code });
  });
});

it("a failure names the field it is about, and the request, and nothing a person wrote", async () => {
  const error = {
    message: "swordfish",
    type: "invalid_request_error",
    param: "messages[0].content",
    code: "my swordfish",
  };
  const provider = await serving(json({ error }, 400, { "x-request-id": "req_1" }));
  await expect(provider.complete(request)).rejects.toMatchObject({
    message: expect.stringMatching(
      /^openai refuses the request; .* \(status 400, messages\[0\]\.content\)\.$/,
    ) as string,
    details: { provider: "openai", status: 400, field: "messages[0].content", requestId: "req_1" },
  });
});
