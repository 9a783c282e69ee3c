// VCR: a model is recorded once and replayed from a file that people can read, streams too. What was not recorded is an error that says
// what differs.

import { readFile, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import {
  type LlmProvider,
  type LlmRequest,
  type LlmStreamEvent,
  scriptedProvider,
} from "../../src/llm/index.js";
import {
  type Cassette,
  emptyCassette,
  loadCassette,
  MissingRecordingError,
  recordingProvider,
  replayingProvider,
  saveCassette,
} from "../../src/testing/index.js";
import { collect } from "../support/collect.js";
import { temporaryDirectory } from "../support/temporary-directory.js";

const TOOL = { name: "lookup", description: "Looks up", inputSchema: { type: "object" } };
const asked = (content: string): LlmRequest => ({
  system: "Be brief.",
  messages: [{ role: "user", content }],
  tools: [TOOL],
});

const model = (): LlmProvider =>
  scriptedProvider(({ messages }, turn) => ({
    content: `answer ${turn} to ${JSON.stringify(messages.at(-1)?.content)}`,
    toolCalls: [{ id: `call_${turn}`, name: "lookup", input: { key: "vör" } }],
    reasoning: [{ kind: "reasoning", provider: "scripted", text: "let me see", signature: "sig" }],
    usage: { inputTokens: 3, outputTokens: 5 },
  }));

async function piecesOf(provider: LlmProvider, request: LlmRequest): Promise<LlmStreamEvent[]> {
  return collect(provider.stream!(request));
}

const tape = () => `${temporaryDirectory()}/cassettes/triage.json`;

async function throughAFile(cassette: Cassette): Promise<Cassette> {
  const file = tape();
  await saveCassette(cassette, file);
  return loadCassette(file);
}

describe("a recorded model", () => {
  it("answers as it did, from a file, without the real one", async () => {
    const cassette = emptyCassette();
    const recording = recordingProvider(model(), cassette);
    const answers = [await recording.complete(asked("a")), await recording.complete(asked("b"))];
    const replaying = replayingProvider(await throughAFile(cassette));
    expect([replaying.id, replaying.capabilities.reasoning]).toEqual(["scripted", true]);
    expect(await replaying.complete(asked("b"))).toEqual(answers[1]);
    expect(await replaying.complete(asked("a"))).toEqual(answers[0]);
  });

  it("streams as it did, piece by piece; asked for the whole, it gives the same answer", async () => {
    const cassette = emptyCassette();
    const pieces = await piecesOf(recordingProvider(model(), cassette), asked("a"));
    const replaying = replayingProvider(await throughAFile(cassette));
    expect(await piecesOf(replaying, asked("a"))).toEqual(pieces);
    expect({ type: "end", response: await replaying.complete(asked("a")) }).toEqual(pieces.at(-1));
  });

  it("that was recorded whole streams in pieces that make up the whole", async () => {
    const cassette = emptyCassette();
    const response = await recordingProvider(model(), cassette).complete(asked("a"));
    const pieces = await piecesOf(replayingProvider(cassette), asked("a"));
    const text = pieces.map((piece) => (piece.type === "text" ? piece.delta : "")).join("");
    expect(text).toBe(response.content);
    expect(pieces.at(-1)).toEqual({ type: "end", response });
  });

  it("that was asked the same again gives its answers in their order, and the last one from then on", async () => {
    const cassette = emptyCassette();
    const recording = recordingProvider(model(), cassette);
    await recording.complete(asked("a"));
    await recording.complete(asked("a"));
    const replaying = replayingProvider(cassette);
    const contents = [];
    for (let i = 0; i < 3; i++) contents.push((await replaying.complete(asked("a"))).content);
    expect(contents).toEqual(['answer 1 to "a"', 'answer 2 to "a"', 'answer 2 to "a"']);
  });

  it("is found whatever the order of keys, and not when anything else differs", async () => {
    const cassette = emptyCassette();
    await recordingProvider(model(), cassette).complete(asked("a"));
    const replaying = replayingProvider(cassette);
    const { messages, tools, system } = asked("a");
    await replaying.complete({ tools: tools!, messages, system: system! });
    for (const other of [asked("b"), { ...asked("a"), maxTokens: 5 }, { messages, tools: tools! }])
      await expect(replaying.complete(other)).rejects.toBeInstanceOf(MissingRecordingError);
  });

  it("gives copies: what a reader does to an answer changes no recording", async () => {
    const cassette = emptyCassette();
    await recordingProvider(model(), cassette).complete(asked("a"));
    const replaying = replayingProvider(cassette);
    Object.assign(await replaying.complete(asked("a")), { content: "changed" });
    expect((await replaying.complete(asked("a"))).content).toBe('answer 1 to "a"');
  });
});

describe("what is not recorded", () => {
  it("failures, and streams that are left: they are passed on", async () => {
    const cassette = emptyCassette();
    const failing = recordingProvider(scriptedProvider([]), cassette);
    await expect(failing.complete(asked("a"))).rejects.toMatchObject({ code: "LLM_REQUEST_REFUSED" });
    const left = recordingProvider(model(), cassette);
    for await (const piece of left.stream!(asked("a"))) if (piece.type === "text") break;
    expect(cassette.recordings).toEqual({});
  });

  it("a provider that cannot stream, as one that can", async () => {
    const { stream: _, ...whole } = model();
    expect(recordingProvider(whole, emptyCassette()).stream).toBeUndefined();
  });

  it("two providers on one cassette", () => {
    const cassette = emptyCassette();
    recordingProvider(model(), cassette);
    expect(() => recordingProvider({ ...model(), id: "another" }, cassette)).toThrow(
      /holds answers of scripted, and this is another/,
    );
  });

  it("a call that is aborted gets no answer", async () => {
    const cassette = emptyCassette();
    await recordingProvider(model(), cassette).complete(asked("a"));
    const signal = AbortSignal.abort(new Error("barge-in"));
    await expect(replayingProvider(cassette).complete(asked("a"), { signal })).rejects.toMatchObject({
      code: "LLM_ABORTED",
    });
  });
});

describe("a missing recording", () => {
  it("names the nearest, where it differs, and how to record", async () => {
    const cassette = emptyCassette();
    const recording = recordingProvider(model(), cassette);
    await recording.complete(asked("what is the licence of zod?"));
    await recording.complete({ messages: [{ role: "user", content: "something else" }] });
    const error: unknown = await replayingProvider(cassette)
      .complete(asked("what is the licence of vitest?"))
      .catch((thrown: unknown) => thrown);
    if (!(error instanceof MissingRecordingError)) throw error;
    expect(error).toMatchObject({ code: "RECORDING_MISSING", retryable: false });
    expect(error.nearest?.path).toBe("messages[0].content");
    expect(error.message).toContain(
      'recorded is "what is the licence of zod?", asked was "what is the licence of vitest?"',
    );
    expect(error.message).toContain("recordingProvider(realProvider, cassette)");
    expect(error.details["digest"]).toBe(error.digest);
  });

  it("says so when there are none at all", async () => {
    const asking = replayingProvider(emptyCassette()).complete(asked("a"));
    await expect(asking).rejects.toThrow(/It holds no recordings\. Record it/);
  });
});

describe("the file", () => {
  it("is the same byte for byte whatever the order of the calls, and readable", async () => {
    const files = await Promise.all(
      [
        ["a", "b"],
        ["b", "a"],
      ].map(async (order) => {
        const cassette = emptyCassette();
        const steady = scriptedProvider(({ messages }) => ({
          content: `to ${JSON.stringify(messages[0]?.content)}`,
        }));
        for (const content of order) await recordingProvider(steady, cassette).complete(asked(content));
        const file = tape();
        await saveCassette(cassette, file);
        return readFile(file, "utf8");
      }),
    );
    expect(files[0]).toBe(files[1]);
    expect(files[0]).toContain('\n            "content": "to \\"a\\"",\n');
    expect(files[0]!.endsWith("}\n")).toBe(true);
  });

  it.each<[string, RegExp, string]>([
    ["no JSON", /is no JSON/, "{"],
    ["another format", /is no cassette of format 1/, '{"format":2,"recordings":{}}'],
    ["nothing", /is no cassette/, "null"],
    [
      "a recording without answers",
      /without request or answers, x/,
      '{"format":1,"recordings":{"x":{"request":{},"answers":[]}}}',
    ],
    [
      "a request that was edited",
      /under x whose digest is/,
      '{"format":1,"recordings":{"x":{"request":{"messages":[]},"answers":[{"response":{}}]}}}',
    ],
  ])("that holds %s is refused by name", async (_, message, text) => {
    const file = `${temporaryDirectory()}/broken.json`;
    await writeFile(file, text);
    await expect(loadCassette(file)).rejects.toMatchObject({ code: "RECORD_UNREADABLE", details: { file } });
    await expect(loadCassette(file)).rejects.toThrow(message);
  });

  it("that is not there is missed by name, and told how to record", async () => {
    const file = tape();
    await expect(loadCassette(file)).rejects.toMatchObject({ code: "RECORDING_MISSING", details: { file } });
    await expect(loadCassette(file)).rejects.toThrow(
      /no cassette .*triage\.json\. Record one: begin with emptyCassette/,
    );
  });
});
