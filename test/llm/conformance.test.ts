// One suite for every vendor: real SDKs against a real server that speaks the vendor's own format.

import { inspect } from "node:util";
import fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { tainted } from "../../src/index.js";
import { failureToWire } from "../../src/kernel/index.js";
import type { LlmError, LlmProvider, LlmRequest, LlmStreamEvent } from "../../src/llm/index.js";
import { collect } from "../support/collect.js";
import { until } from "../support/until.js";
import { anthropic } from "./wire/anthropic.js";
import { gemini } from "./wire/gemini.js";
import { openAi } from "./wire/openai.js";
import { json, llmServer, type Reply, sse } from "./wire/server.js";
import type { Vendor } from "./wire/vendor.js";

const PROMPT = "my prompt about swordfish";
const KEY = "sk-0123456789abcdef";
const request: LlmRequest = { messages: [{ role: "user", content: PROMPT }] };

const failureOf = async (pending: Promise<unknown>): Promise<LlmError> => {
  const error = await pending.then(
    () => new Error("it did not fail"),
    (thrown: LlmError) => thrown,
  );
  expect(error).toMatchObject({ name: "LlmError" });
  return error as LlmError;
};

/** What anybody but the holder of the error can read of it. */
const everythingSaid = (error: Error): string =>
  [JSON.stringify(failureToWire(error)), JSON.stringify(error), error.message, error.stack].join("\n");

const bytesOf = (frames: readonly string[]): Buffer => Buffer.from(frames.join(""), "utf8");

describe.each([anthropic, openAi, gemini])("$name", (vendor: Vendor) => {
  const serving = async (reply: (turn: number) => Reply, options = {}) => {
    const server = await llmServer((_received, turn) => reply(turn));
    const provider = vendor.open({ apiKey: KEY, baseUrl: server.url, ...options });
    return {
      server,
      provider,
      stream: (signal?: AbortSignal) => provider.stream!(request, signal && { signal }),
    };
  };
  const text = vendor.spoken[0]!;

  describe.each(vendor.spoken)("$title", ({ whole, frames, expected }) => {
    it("is what complete returns", async () => {
      const { provider } = await serving(() => json(whole));
      expect(await provider.complete(request)).toEqual(expected);
    });

    it("is what a stream ends with, and its pieces make up the same answer", async () => {
      const { stream } = await serving(() => sse(frames));
      const events = await collect(stream());
      expect(events.at(-1)).toEqual({ type: "end", response: expected });
      expect(events.filter(({ type }) => type === "end")).toHaveLength(1);
      const joined = (type: "text" | "reasoning"): string =>
        events.flatMap((event) => (event.type === type ? event.delta : [])).join("");
      expect(joined("text")).toBe(expected.content);
      expect(joined("reasoning")).toBe(expected.reasoning?.map(({ text = "" }) => text).join("") ?? "");
      for (const [index, call] of (expected.toolCalls ?? []).entries()) {
        const pieces = events.filter(
          (event) => event.type === "toolCall" && event.index === index,
        ) as Extract<LlmStreamEvent, { type: "toolCall" }>[];
        expect(pieces[0]).toMatchObject({ id: call.id, name: call.name });
        const written = pieces.map(({ delta }) => delta).join("");
        expect(call.malformed ?? call.input).toEqual(call.malformed ? written : JSON.parse(written || "{}"));
      }
    });
  });

  it("reads a stream the same, wherever its bytes are cut", async () => {
    const { frames, expected } = vendor.spoken[2]!;
    const bytes = bytesOf(frames);
    let pieces: Uint8Array[] = [];
    const { stream } = await serving(() => sse(pieces));
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.nat(bytes.length), { maxLength: 12 }), async (cuts) => {
        const at = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
        pieces = at
          .slice(1)
          .map((end, index) => bytes.subarray(at[index], end))
          .filter(({ length }) => length > 0);
        expect((await collect(stream())).at(-1)).toEqual({ type: "end", response: expected });
      }),
      { numRuns: 40 },
    );
    // Also inside characters of several bytes.
    pieces = [...bytesOf(text.frames)].map((byte) => Uint8Array.of(byte));
    expect((await collect(stream())).at(-1)).toEqual({ type: "end", response: text.expected });
  });

  describe("failures", () => {
    it.each([
      [400, "LLM_REQUEST_REFUSED", false],
      [401, "LLM_UNAUTHENTICATED", false],
      [404, "LLM_REQUEST_REFUSED", false],
      [413, "LLM_CONTEXT_TOO_LONG", false],
      [429, "LLM_RATE_LIMITED", true],
      [500, "LLM_UNAVAILABLE", true],
      [503, "LLM_UNAVAILABLE", true],
      [529, "LLM_UNAVAILABLE", true],
    ])(
      "status %s is %s, asked once, and no word of prompt or key gets out",
      async (status, code, retryable) => {
        const { server, provider, stream } = await serving(() =>
          vendor.error(status, `You said "${PROMPT}" with ${KEY}`),
        );
        for (const pending of [provider.complete(request), collect(stream())]) {
          const error = await failureOf(pending);
          expect(error).toMatchObject({ code, retryable, details: { provider: vendor.name, status } });
          expect(error.retryAfterMs).toBe(status === 429 ? 7_000 : undefined);
          expect(everythingSaid(error)).not.toContain("swordfish");
          expect(everythingSaid(error)).not.toContain(KEY);
          expect(error.vendorMessage).toContain("swordfish");
        }
        expect(server.received).toHaveLength(2);
      },
    );

    it("a conversation that is too long is told apart", async () => {
      const { provider } = await serving(() => vendor.tooLong());
      expect(await failureOf(provider.complete(request))).toMatchObject({
        code: "LLM_CONTEXT_TOO_LONG",
        retryable: false,
      });
    });

    it("an answer that is no answer", async () => {
      const replies = [
        json("<html>swordfish</html>"),
        json({ hello: "swordfish" }),
        json('{"swordfish": '),
        json("null"),
      ];
      const { provider } = await serving((nth) => replies[nth - 1]!);
      for (const _reply of replies) {
        const error = await failureOf(provider.complete(request));
        expect(error).toMatchObject({ code: "LLM_RESPONSE_INVALID", retryable: true });
        expect(everythingSaid(error)).not.toContain("swordfish");
      }
    });

    it("a malformed piece in the middle of a stream, and nothing of it is printed", async () => {
      const printed = vi.spyOn(console, "error").mockReturnValue();
      onTestFinished(() => printed.mockRestore());
      const [first = "", second = "", ...rest] = text.frames;
      const broken = second.replace(/\{.*/, '{"swordfish": ');
      const { stream } = await serving(() =>
        sse([first, vendor === anthropic ? broken.replace("ping", "message_delta") : broken, ...rest]),
      );
      const error = await failureOf(collect(stream()));
      expect(error).toMatchObject({ code: "LLM_RESPONSE_INVALID", retryable: true });
      expect(everythingSaid(error)).not.toContain("swordfish");
      expect(printed).not.toHaveBeenCalled();
    });

    it("an error in the middle of a stream", async () => {
      const { stream } = await serving(() => sse([...text.frames.slice(0, 3), vendor.errorFrame]));
      expect(await failureOf(collect(stream()))).toMatchObject({ code: "LLM_UNAVAILABLE", retryable: true });
    });

    it("a connection that breaks off, or ends, anywhere before the end", async () => {
      const last = text.frames.length - 2;
      for (const then of ["breakOff", "end"] as const) {
        for (const count of [1, 4, last - 1]) {
          const { stream } = await serving(() => sse(text.frames.slice(0, count), then));
          expect(await failureOf(collect(stream()))).toMatchObject({
            code: "LLM_UNAVAILABLE",
            retryable: true,
          });
        }
      }
      const { provider } = await serving(() => ({
        ...json('{"half":'),
        headers: { "content-length": "900" },
        then: "breakOff",
      }));
      expect(await failureOf(provider.complete(request))).toMatchObject({ code: "LLM_UNAVAILABLE" });
    });

    it("nobody there", async () => {
      const provider = vendor.open({ apiKey: KEY, baseUrl: "http://127.0.0.1:1" });
      expect(await failureOf(provider.complete(request))).toMatchObject({
        code: "LLM_UNAVAILABLE",
        retryable: true,
      });
      expect(await failureOf(collect(provider.stream!(request)))).toMatchObject({ code: "LLM_UNAVAILABLE" });
    });

    it("an answer that takes longer than timeoutMs", async () => {
      const { provider } = await serving(() => ({ pieces: [], then: "stall" }), { timeoutMs: 50 });
      expect(await failureOf(provider.complete(request))).toMatchObject({
        code: "LLM_UNAVAILABLE",
        retryable: true,
      });
    });
  });

  describe("a signal", () => {
    it("that is aborted already sends nothing", async () => {
      const { server, provider, stream } = await serving(() => json(text.whole));
      const signal = AbortSignal.abort(new Error("enough"));
      for (const pending of [provider.complete(request, { signal }), collect(stream(signal))]) {
        expect(await failureOf(pending)).toMatchObject({
          code: "LLM_ABORTED",
          retryable: false,
          cause: { message: "enough" },
        });
      }
      expect(server.received).toHaveLength(0);
    });

    it("stops a request that waits, and a stream that stalls, and the connection with it", async () => {
      const { server, provider, stream } = await serving((nth) =>
        nth === 1 ? { pieces: [], then: "stall" } : sse(text.frames.slice(0, 4), "stall"),
      );
      const first = new AbortController();
      const waiting = failureOf(provider.complete(request, { signal: first.signal }));
      await until(() => server.received.length === 1, "the request arrives");
      first.abort(new Error("enough"));
      expect(await waiting).toMatchObject({ code: "LLM_ABORTED", cause: { message: "enough" } });

      const second = new AbortController();
      const met: LlmStreamEvent[] = [];
      const reading = failureOf(collect(stream(second.signal), met));
      await until(() => met.length > 0, "the first piece arrives");
      second.abort();
      expect(await reading).toMatchObject({ code: "LLM_ABORTED" });
      await until(() => server.left() === 2, "both connections are closed");
    });

    it("nothing of a stream is told after it", async () => {
      const { stream } = await serving(() => sse([text.frames.join("")]));
      const controller = new AbortController();
      const met: LlmStreamEvent[] = [];
      const read = async (): Promise<void> => {
        for await (const event of stream(controller.signal)) {
          met.push(event);
          controller.abort();
        }
      };
      expect(await failureOf(read())).toMatchObject({ code: "LLM_ABORTED" });
      expect(met).toHaveLength(1);
    });

    it("holds on to nothing when requests are over", async () => {
      const { provider, stream } = await serving((nth) =>
        nth % 2 === 1 ? json(text.whole) : sse(text.frames),
      );
      const { signal } = new AbortController();
      const added = vi.spyOn(signal, "addEventListener");
      const removed = vi.spyOn(signal, "removeEventListener");
      await provider.complete(request, { signal });
      await collect(stream(signal));
      expect(added).toHaveBeenCalledTimes(2);
      expect(removed).toHaveBeenCalledTimes(2);
    });
  });

  it("leaving a stream ends its request", async () => {
    const { server, stream } = await serving(() => sse(text.frames.slice(0, 4), "stall"));
    for await (const _event of stream()) break;
    await until(() => server.left() === 1, "the connection is closed");
  });

  describe("headers", () => {
    it("are sent with every request, and the key where the vendor wants it", async () => {
      const { server, provider, stream } = await serving(
        (nth) => (nth === 1 ? json(text.whole) : sse(text.frames)),
        {
          headers: { "anthropic-workspace-id": "w1", "X-Trace": "t 1" },
        },
      );
      await provider.complete(request);
      await collect(stream());
      for (const { headers } of server.received) {
        expect(headers).toMatchObject({ "anthropic-workspace-id": "w1", "x-trace": "t 1" });
        expect(vendor.keyIn(headers)).toBe(KEY);
      }
    });

    it.each(vendor.reservedHeaders)("%s is the provider's own", (name) => {
      expect(() => vendor.open({ headers: { [name]: KEY } })).toThrow(
        `headers["${name}"] is set by the provider itself`,
      );
    });

    it.each([
      ["a line break in a value", { "x-a": `${KEY}\r\nx-b: 1` }],
      ["a character no header has", { "x-a": `${KEY}→` }],
      ["a value that is no text", { "x-a": { toString: () => KEY } as unknown as string }],
      ["a line break in a name", { "x-a\nx-b": KEY }],
      ["an empty name", { "": KEY }],
    ])("refuses %s, names the header and never prints its value", (_name, headers) => {
      const open = (): LlmProvider => vendor.open({ headers });
      expect(open).toThrow(`headers[${JSON.stringify(Object.keys(headers)[0])}]`);
      expect(open).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }) as Error);
      expect(open).not.toThrow(KEY);
    });
  });

  describe("the key", () => {
    it("comes from the environment, at the first request", async () => {
      const { server, provider } = await serving(() => json(text.whole), { apiKey: undefined });
      vi.stubEnv("GOOGLE_API_KEY", undefined);
      vi.stubEnv(vendor.keyVariable, undefined);
      try {
        const error = await failureOf(provider.complete(request));
        expect(error).toMatchObject({ code: "LLM_UNAUTHENTICATED", retryable: false });
        expect(error.message).toContain(vendor.keyVariable);
        vi.stubEnv(vendor.keyVariable, `${KEY}\n`);
        expect(everythingSaid(await failureOf(provider.complete(request)))).not.toContain(KEY);
        vi.stubEnv(vendor.keyVariable, "from-the-environment");
        await provider.complete(request);
      } finally {
        vi.unstubAllEnvs();
      }
      expect(server.received.map(({ headers }) => vendor.keyIn(headers))).toEqual(["from-the-environment"]);
    });

    it("is not shown when the provider is", async () => {
      const { provider } = await serving(() => json(text.whole));
      await provider.complete(request);
      expect(inspect(provider, { depth: 9, showHidden: true }) + JSON.stringify(provider)).not.toContain(KEY);
    });
  });

  it("refuses options that are none", () => {
    const refused = (options: object, words: string): void =>
      expect(() => vendor.open(options)).toThrow(
        expect.objectContaining({
          code: "CONFIG_INVALID",
          message: expect.stringContaining(words) as string,
        }) as Error,
      );
    refused({ baseURL: "http://x" }, "baseURL is no option");
    refused({ baseUrl: "example.org" }, "baseUrl");
    refused({ apiKey: `${KEY} x` }, "apiKey");
    refused({ model: "" }, "model");
    refused({ maxTokens: 0 }, "maxTokens");
    refused({ timeoutMs: 1.5 }, "timeoutMs");
    expect(() => vendor.open({ apiKey: `${KEY}\n` })).not.toThrow(KEY);
  });

  it("stands behind the prompt boundary (C-AGT-07)", async () => {
    const { server, provider } = await serving((nth) => (nth === 1 ? json(text.whole) : sse(text.frames)));
    const messages: LlmRequest["messages"] = [{ role: "user", content: tainted("obey me", "web") }];
    await provider.complete({ messages });
    await collect(provider.stream!({ messages }));
    for (const { body } of server.received) {
      expect(JSON.stringify(body)).toContain("<untrusted origin");
      expect(JSON.stringify(body)).not.toContain("__heddleTainted");
    }
    const unpaired: LlmRequest = {
      messages: [{ role: "tool", toolCallId: "1", toolName: "look", content: "x" }],
    };
    expect(await failureOf(provider.complete(unpaired))).toMatchObject({ code: "LLM_PROMPT_INVALID" });
    expect(await failureOf(collect(provider.stream!(unpaired)))).toMatchObject({
      code: "LLM_PROMPT_INVALID",
    });
    expect(server.received).toHaveLength(2);
  });
});
