import { describe, expect, it } from "vitest";
import { tainted } from "../../src/index.js";
import {
  LlmError,
  type LlmMessage,
  type LlmRequest,
  type LlmStreamEvent,
  scriptedProvider,
} from "../../src/llm/index.js";
import { collect } from "../support/collect.js";

const request: LlmRequest = { messages: [{ role: "user", content: "hello" }] };

describe("scriptedProvider", () => {
  it("answers in order, keeps the requests, and says when the script is over", async () => {
    const provider = scriptedProvider([
      "one",
      { content: "two", stopReason: "maxTokens" },
      new LlmError("LLM_UNAVAILABLE", "down"),
    ]);
    expect(await provider.complete(request)).toMatchObject({
      content: "one",
      stopReason: "end",
      model: "scripted",
    });
    expect(await provider.complete(request)).toMatchObject({ content: "two", stopReason: "maxTokens" });
    await expect(provider.complete(request)).rejects.toMatchObject({ code: "LLM_UNAVAILABLE" });
    await expect(provider.complete(request)).rejects.toMatchObject({ code: "LLM_REQUEST_REFUSED" });
    expect(provider.requests).toEqual([request, request, request, request]);
  });

  it("answers by a function of the request", async () => {
    const provider = scriptedProvider(({ messages }, turn) => `${messages.length} at turn ${turn}`);
    await provider.complete(request);
    expect((await provider.complete(request)).content).toBe("1 at turn 2");
  });

  it("streams what complete returns, calls and malformed arguments too", async () => {
    const answer = {
      content: "so 👩‍👩‍👧 it is",
      reasoning: [{ kind: "reasoning", provider: "scripted", text: "thinking about it" }],
      toolCalls: [
        { name: "look", input: { at: "the sea" } },
        { id: "x", name: "look", malformed: '{"at": "th' },
      ],
    } as const;
    const provider = scriptedProvider([answer, answer], { pieceChars: 3 });
    const complete = await provider.complete(request);
    const events = await collect(provider.stream(request));
    // The ids of calls are counted by answers.
    const expected = JSON.parse(JSON.stringify(complete).replace("call-1-1", "call-2-1")) as unknown;
    expect(JSON.parse(JSON.stringify(events.at(-1)))).toEqual({ type: "end", response: expected });
    expect(complete.toolCalls).toEqual([
      { id: "call-1-1", name: "look", input: { at: "the sea" } },
      { id: "x", name: "look", input: undefined, malformed: '{"at": "th' },
    ]);
    expect(complete.stopReason).toBe("toolUse");
    const joined = (type: string): string =>
      events.flatMap((event) => (event.type === type && "delta" in event ? [event.delta] : [])).join("");
    expect(joined("text")).toBe(answer.content);
    expect(joined("reasoning")).toBe("thinking about it");
    expect(joined("toolCall")).toBe('{"at":"the sea"}{"at": "th');
  });

  it("plays a connection that breaks off in mid-stream", async () => {
    const error = new LlmError("LLM_UNAVAILABLE", "broke off");
    const provider = scriptedProvider([
      { content: "half an ans", error },
      { content: "x", error },
    ]);
    const met: LlmStreamEvent[] = [];
    await expect(collect(provider.stream(request), met)).rejects.toBe(error);
    expect(met).toHaveLength(2);
    await expect(provider.complete(request)).rejects.toBe(error);
  });

  it("waits as it is told, and a signal ends the wait", async () => {
    const waits: number[] = [];
    const controller = new AbortController();
    const provider = scriptedProvider(() => ({ content: "a long answer", delayMs: 50, pieceDelayMs: 7 }), {
      sleep: async (delayMs) => void waits.push(delayMs),
    });
    await collect(provider.stream(request));
    expect(waits).toEqual([50, 7, 7]);
    const slow = scriptedProvider([{ content: "never", delayMs: 600_000 }]);
    const pending = slow.complete(request, { signal: controller.signal });
    controller.abort(new Error("enough"));
    await expect(pending).rejects.toMatchObject({ code: "LLM_ABORTED", cause: { message: "enough" } });
  });

  it("a signal ends a stream at the next piece", async () => {
    const controller = new AbortController();
    const provider = scriptedProvider(["one two three four"], { pieceChars: 4 });
    const met: string[] = [];
    const read = async (): Promise<void> => {
      for await (const event of provider.stream(request, { signal: controller.signal })) {
        if (event.type === "text") met.push(event.delta);
        if (met.length === 2) controller.abort();
      }
    };
    await expect(read()).rejects.toMatchObject({ code: "LLM_ABORTED" });
    expect(met).toEqual(["one ", "two "]);
  });

  it("strict: refuses what strict providers refuse (C-AGT-02)", async () => {
    const user: LlmMessage = { role: "user", content: "a" };
    const assistant: LlmMessage = { role: "assistant", content: "b" };
    const call: LlmMessage = {
      role: "assistant",
      content: "",
      toolCalls: [{ id: "1", name: "look", input: {} }],
    };
    const result: LlmMessage = { role: "tool", toolCallId: "1", toolName: "look", content: "c" };
    const strict = scriptedProvider(() => "fine", { strict: true });
    const spec = { name: "look", description: "looks", inputSchema: {} };
    for (const messages of [
      [],
      [assistant, user],
      [user, user],
      [user, assistant],
      [user, assistant, assistant, user],
      [user, call],
      [user, call, user],
      [user, result],
      [user, call, result, result],
      [user, call, result, call, result],
      [{ role: "user", content: "" }],
      [{ role: "user", content: tainted("x", "web") }],
    ] as LlmMessage[][]) {
      await expect(strict.complete({ messages })).rejects.toMatchObject({ code: "LLM_REQUEST_REFUSED" });
    }
    await expect(strict.complete({ messages: [user], tools: [spec, spec] })).rejects.toThrow("one name");
    await expect(strict.complete({ messages: [user, call, result, user] })).resolves.toMatchObject({
      content: "fine",
    });
  });

  it("refuses scripts and options that are none", () => {
    expect(() => scriptedProvider("text" as unknown as [])).toThrow("scriptedProvider: script");
    expect(() => scriptedProvider([], { pieceChars: 0 })).toThrow("scriptedProvider: pieceChars");
  });
});
