// A model that reasons, asked by a flow step by step the way the agent loop asks it: what is recorded, what can be read later, and what
// goes back to the vendor.

import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import {
  type AgentModelOptions,
  createAgentModelEffect,
  type ModelResponse,
  readReasoning,
  reasoningWarning,
  withReasoningDefaults,
} from "../../../src/agent/index.js";
import {
  type ContentStore,
  defineConfig,
  defineFlow,
  flow$,
  isTainted,
  type LoomApp,
  lmdbStorage,
  secretRef,
  ToolEffect,
  unwrapTainted,
} from "../../../src/index.js";
import type {
  AssistantMessage,
  LlmMessage,
  LlmRequest,
  LlmToolSpec,
  ReasoningBlock,
  ScriptedProvider,
} from "../../../src/llm/index.js";
import { scriptedProvider } from "../../../src/llm/index.js";
import { latch } from "../../support/latch.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";

const thought = (text: string, provider = "scripted"): ReasoningBlock => ({
  kind: "reasoning",
  provider,
  text,
  signature: `signed: ${text.length}`,
});
const WITHHELD: ReasoningBlock = { kind: "redacted", provider: "scripted", signature: "opaque" };
const SECRET_THOUGHT = "Ann is asleep, so Bob it is.";

/** Turn after turn: what is said to the model, and the tools it is shown meanwhile. */
interface Script {
  readonly menus?: readonly (readonly LlmToolSpec[])[];
  readonly turns: number;
}

const tool = (name: string): LlmToolSpec => ({ name, description: name, inputSchema: { type: "object" } });

/** Asks as often as it is told, and answers each call of a tool with "done". */
const chat = defineFlow(
  flow$({ id: "chat", version: "1", inputSchema: z.custom<Script>(), outputSchema: z.string() }),
  async (ctx, { turns, menus = [] }) => {
    const messages: LlmMessage[] = [{ role: "user", content: "Who is on call?" }];
    let said = "";
    for (let turn = 0; turn < turns; turn++) {
      const tools = menus[turn] ?? menus.at(-1) ?? [];
      const request: LlmRequest = { messages: [...messages], tools };
      const task = { id: `turn:${turn}`, toolId: "model", kind: "llm" as const };
      const answer = (await ctx.execute<LlmRequest, unknown>(task, request)) as ModelResponse;
      const { content, toolCalls, reasoning, interrupted } = answer;
      said = content;
      const message: AssistantMessage = {
        role: "assistant",
        content,
        ...(toolCalls && { toolCalls }),
        ...(reasoning && { reasoning }),
        ...(interrupted && { interrupted }),
      };
      messages.push(message);
      for (const { id, name } of toolCalls ?? [])
        messages.push({ role: "tool", toolCallId: id, toolName: name, content: "done" });
      if (!toolCalls) messages.push({ role: "user", content: "And then?" });
      await ctx.execute({ id: `after:${turn}`, toolId: "after" }, turn);
    }
    return said;
  },
);

interface Setting {
  readonly provider: ScriptedProvider;
  readonly reasoning?: AgentModelOptions["reasoning"];
  /** Called after a turn, in an effect. */
  readonly after?: (turn: number, app: LoomApp) => unknown;
  readonly storage?: Parameters<typeof defineConfig>[0]["storage"];
}

function appOf({ provider, reasoning, after, storage = { kind: "memory" } }: Setting): LoomApp {
  const store: Pick<ContentStore, "put" | "get"> = {
    put: (...given) => app.stores.contentStore.put(...given),
    get: (ref) => app.stores.contentStore.get(ref),
  };
  const app: LoomApp = defineConfig({
    storage,
    flows: [chat],
    execution: {
      registerEffects: (effects) => {
        effects.register("model", createAgentModelEffect(provider, { reasoning: reasoning ?? { store } }));
        effects.register("after", new ToolEffect((turn: number) => after?.(turn, app)));
      },
    },
  });
  onTestFinished(() => app.close());
  return app;
}

async function run(setting: Setting, script: Script, executionId = "x") {
  const app = appOf(setting);
  const handle = await app.runtime.start(chat, script, { executionId });
  const state = await handle.waitForCompletion();
  const log = await app.stores.eventStore.read(executionId);
  const read = (stepId?: string) =>
    readReasoning(app.stores.eventStore, app.stores.contentStore, {
      executionId,
      ...(stepId !== undefined && { stepId }),
    });
  return { app, state, log, read };
}

const partsIn = (state: { frames: Readonly<Record<string, { output?: unknown }>> }, stepId = "turn:0") =>
  (state.frames[stepId]?.output as ModelResponse).reasoning ?? [];

/** What the provider was given back in its n-th request, message by message. */
const returned = (provider: ScriptedProvider, request: number) =>
  provider.requests[request]!.messages.filter(({ role }) => role === "assistant").map(
    (message) => (message as AssistantMessage).reasoning,
  );

const looping = (...reasonings: readonly (readonly ReasoningBlock[])[]) =>
  scriptedProvider(
    reasonings.map((reasoning, i) => ({
      content: `turn ${i}`,
      reasoning,
      toolCalls: [{ name: "look", signature: `call ${i}` }],
    })),
  );

describe("capture", () => {
  it("keeps the text in the store, and no word of it in the log", async () => {
    const provider = looping([thought(SECRET_THOUGHT), WITHHELD]);
    const { app, log, state } = await run({ provider }, { turns: 1 });
    expect(JSON.stringify(log)).not.toContain("asleep");
    const [kept, withheld] = partsIn(state);
    expect(kept).toEqual({
      kind: "reasoning",
      provider: "scripted",
      signature: "signed: 28",
      reference: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) as string,
      digest: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      menu: expect.any(String) as string,
    });
    expect(withheld).toEqual({
      kind: "redacted",
      provider: "scripted",
      signature: "opaque",
      menu: kept?.menu,
    });
    expect(String(await app.stores.contentStore.get(kept!.reference!))).toContain("asleep");
  });

  it("is one event a call, which names references and digests and does not change the state", async () => {
    const provider = looping([thought("one"), thought("two")], [], [thought("three")]);
    const { log, state } = await run({ provider }, { turns: 3 });
    const events = log.filter(({ type }) => type === "LLM_REASONING_CAPTURED");
    expect(events.map(({ payload }) => payload)).toEqual([
      { stepId: "turn:0", attempt: 1, erasable: true, parts: partsIn(state, "turn:0") },
      { stepId: "turn:2", attempt: 1, erasable: true, parts: partsIn(state, "turn:2") },
    ]);
    expect(partsIn(state, "turn:0")).toHaveLength(2);
  });

  it("comes after the text is durable: a store that fails fails the step", async () => {
    const store = {
      get: () => Promise.resolve(null),
      put: () => Promise.reject(new Error("The disk is full.")),
    };
    const { state, log } = await run(
      { provider: looping([thought("one")]), reasoning: { store } },
      { turns: 1 },
    );
    expect(state.status).toBe("failed");
    expect(state.error).toMatchObject({ message: "The disk is full." });
    expect(log.map(({ type }) => type)).not.toContain("LLM_REASONING_CAPTURED");
  });

  it("keeps no text that holds a secret: nothing hides it in the store", async () => {
    const ask = defineFlow(
      flow$({ id: "ask", version: "1", inputSchema: z.null(), outputSchema: z.unknown() }),
      (ctx) => {
        const messages = [{ role: "user", content: "Log in." }];
        return ctx.execute({ id: "model" }, { system: secretRef("token"), messages });
      },
    );
    const provider = scriptedProvider([
      { content: "In.", reasoning: [thought("It is hunter2-hunter2."), thought("Easy.")] },
    ]);
    const store = storeIn();
    const app = defineConfig({
      storage: { kind: "memory" },
      flows: [ask],
      security: { secrets: { resolver: () => "hunter2-hunter2" } },
      execution: {
        registerEffects: (effects) =>
          effects.register("model", createAgentModelEffect(provider, { reasoning: { store } })),
      },
    });
    onTestFinished(() => app.close());
    const handle = await app.runtime.start(ask, null, { executionId: "x" });
    expect(((await handle.result()) as ModelResponse).reasoning).toMatchObject([
      { unstored: true },
      { digest: expect.any(String) as string },
    ]);
    const records = await readReasoning(app.stores.eventStore, store, { executionId: "x" });
    expect(records.map(({ status }) => status)).toEqual(["redacted", "ok"]);
    expect(JSON.stringify(await app.stores.eventStore.read("x"))).not.toContain("hunter2");
  });

  it("is not where an effect does not want it, though it has a store", async () => {
    for (const reasoning of [false, "capture: false"] as const) {
      const own = { get: () => Promise.resolve(null), put: () => Promise.reject(new Error("It was put.")) };
      const { state } = await run(
        { provider: looping([thought("one")]), reasoning: reasoning && { store: own, capture: false } },
        { turns: 1 },
      );
      expect(state.status).toBe("completed");
      expect(partsIn(state)).toEqual([]);
    }
  });

  it("keeps what a stopped model had thought, and nobody is given that back", async () => {
    const provider = scriptedProvider([{ content: "", reasoning: [thought("Half a thou")] }, "Fine."]);
    const controller = new AbortController();
    const effect = createAgentModelEffect(provider, {
      reasoning: { store: storeIn(), live: true, onDelta: () => controller.abort() },
    });
    const { app } = await run({ provider }, { turns: 0 });
    app.effectRuntime.register("stopped", effect);
    const kept = await app.effectRuntime.invokeTransient<ModelResponse>(
      "stopped",
      { messages: [{ role: "user", content: "?" }] },
      { signal: controller.signal },
    );
    expect(kept).toMatchObject({
      interrupted: true,
      reasoning: [{ kind: "reasoning", provider: "scripted" }],
    });
    const { reasoning } = kept;
    await app.effectRuntime.invokeTransient("stopped", {
      messages: [
        { role: "user", content: "?" },
        { role: "assistant", content: "(interrupted)", reasoning, interrupted: true },
        { role: "user", content: "Go on." },
      ],
    });
    expect(returned(provider, 1)).toEqual([undefined]);
  });
});

/** A store of its own, for effects outside of an app. */
function storeIn(): ContentStore {
  const app = appOf({ provider: scriptedProvider([]) });
  return app.stores.contentStore;
}

describe("an auditor", () => {
  it("reads the text by step, tainted, with the vendor's withheld blocks named", async () => {
    const provider = looping([thought(SECRET_THOUGHT), WITHHELD], [thought("Bob does not answer.")]);
    const { read } = await run({ provider }, { turns: 2 });
    const records = await read();
    expect(records.map(({ stepId, index, status }) => [stepId, index, status])).toEqual([
      ["turn:0", 0, "ok"],
      ["turn:0", 1, "redacted"],
      ["turn:1", 0, "ok"],
    ]);
    expect(isTainted(records[0]!.text)).toBe(true);
    expect(unwrapTainted(records[0]!.text)).toBe(SECRET_THOUGHT);
    expect(records[1]).not.toHaveProperty("text");
    expect((await read("turn:1")).map(({ text }) => unwrapTainted(text))).toEqual(["Bob does not answer."]);
    expect(await read("turn:7")).toEqual([]);
  });

  it("is told what was erased, and erasing one execution's erases no other's", async () => {
    const directory = temporaryDirectory();
    const setting = { provider: looping([thought("the same")], [thought("the same")]) };
    const app = appOf({ ...setting, storage: lmdbStorage({ dir: directory }) });
    for (const executionId of ["x", "y"])
      await (await app.runtime.start(chat, { turns: 1 }, { executionId })).waitForCompletion();
    const { eventStore, contentStore } = app.stores;
    const [gone] = partsIn(await app.runtime.loadState("x"));
    expect(await contentStore.delete(gone!.reference!)).toBe(true);
    const statusOf = async (executionId: string) =>
      (await readReasoning(eventStore, contentStore, { executionId })).map(({ status }) => status);
    expect(await statusOf("x")).toEqual(["erased"]);
    expect(await statusOf("y")).toEqual(["ok"]);
  });

  it("keeps what is not erased: a sweep of what no log mentions leaves it", async () => {
    const { app, read } = await run({ provider: looping([thought("one")]) }, { turns: 1 });
    await app.stores.contentStore.sweep({ olderThanMs: 0, uncitedOnly: true });
    expect((await read())[0]?.status).toBe("ok");
  });

  it("is told of another text, of another execution's, and of what is no sealed text", async () => {
    const { app, log, state } = await run({ provider: looping([thought("one")]) }, { turns: 1 });
    const [part] = partsIn(state);
    const genuine = String(await app.stores.contentStore.get(part!.reference!));
    const forged: readonly string[] = [
      genuine.replace("one", "two"),
      genuine.replace('"executionId":"x"', '"executionId":"y"'),
      "one",
      "null",
    ];
    for (const bytes of forged) {
      const store = { put: () => Promise.reject(new Error()), get: async () => Buffer.from(bytes) };
      const [record] = await readReasoning({ read: async () => log }, store, { executionId: "x" });
      expect(record).toMatchObject({ status: "digest-mismatch" });
      expect(record).not.toHaveProperty("text");
    }
  });

  it("does not take an outage for an erasure", async () => {
    const { log } = await run({ provider: looping([thought("one")]) }, { turns: 1 });
    const down = {
      put: () => Promise.reject(new Error()),
      get: () => Promise.reject(new Error("Out of reach.")),
    };
    await expect(readReasoning({ read: async () => log }, down, { executionId: "x" })).rejects.toThrow(
      "Out of reach.",
    );
  });

  it("is not led astray by events that only look like evidence", async () => {
    const log = [null, { stepId: "s" }, { stepId: "s", attempt: 1, parts: [null, 7, { provider: 3 }] }].map(
      (payload, sequence) => ({
        executionId: "x",
        sequence,
        type: "LLM_REASONING_CAPTURED",
        timestamp: 0,
        payload,
      }),
    );
    expect(await readReasoning({ read: async () => log }, storeIn(), { executionId: "x" })).toEqual([]);
  });
});

describe("continuation", () => {
  it("sends the vendor's blocks back unchanged and in order, and the signatures of calls", async () => {
    const blocks = [thought("First this."), WITHHELD, thought("Then that.")];
    const unspoken: ReasoningBlock = { kind: "reasoning", provider: "scripted", signature: "no text shown" };
    const provider = looping(blocks, [unspoken], []);
    await run({ provider }, { turns: 3 });
    expect(returned(provider, 2)).toEqual([blocks, [unspoken]]);
    const calls = provider.requests[2]!.messages.flatMap((message) =>
      message.role === "assistant" ? (message.toolCalls ?? []) : [],
    );
    expect(calls.map(({ signature }) => signature)).toEqual(["call 0", "call 1"]);
  });

  it("goes on after a restart", async () => {
    const directory = temporaryDirectory();
    const storage = lmdbStorage({ dir: directory });
    const parked = latch();
    const first = looping([thought("Before the crash.")]);
    const hang = () => new Promise(() => parked.open());
    const before = appOf({ provider: first, storage, after: hang });
    await before.runtime.start(chat, { turns: 2 }, { executionId: "x" });
    await parked.opened;
    await before.close();
    const second = scriptedProvider(["Done."]);
    const after = appOf({ provider: second, storage });
    await after.runtime.handle("x").waitForCompletion();
    expect(first.requests).toHaveLength(1);
    expect(returned(second, 0)).toEqual([[thought("Before the crash.")]]);
  });

  it("drops a part that was erased and all later ones, and keeps those before", async () => {
    const provider = looping([thought("one")], [thought("two"), WITHHELD], [thought("three")], []);
    const erase = async (turn: number, app: LoomApp): Promise<void> => {
      if (turn !== 2) return;
      const [part] = partsIn(await app.runtime.loadState("x"), "turn:1");
      await app.stores.contentStore.delete(part!.reference!);
    };
    const { state } = await run({ provider, after: erase }, { turns: 4 });
    expect(state.status).toBe("completed");
    expect(returned(provider, 3)).toEqual([[thought("one")], undefined, undefined]);
  });

  it("drops what is not genuine, or another execution's, as it drops what is gone", async () => {
    const provider = looping([thought("one")], []);
    let tampered = "";
    const store = {
      put: async (source: unknown) => {
        tampered = String(source).replace("one", "two");
        return { ref: `sha256:${"0".repeat(64)}`, size: 1 };
      },
      get: async () => Buffer.from(tampered),
    };
    await run({ provider, reasoning: { store } }, { turns: 2 });
    expect(returned(provider, 1)).toEqual([undefined]);
  });

  it("drops what came before the menu grew, and keeps what came after", async () => {
    const provider = looping([thought("one")], [thought("two")], []);
    const menus = [[tool("look")], [tool("look"), tool("call")], [tool("look"), tool("call")]];
    await run({ provider }, { turns: 3, menus });
    expect(returned(provider, 1)).toEqual([undefined]);
    expect(returned(provider, 2)).toEqual([undefined, [thought("two")]]);
  });

  it("drops what another provider or another route made, and only that", async () => {
    const provider = looping([thought("theirs", "other"), thought("ours")], []);
    await run({ provider }, { turns: 2 });
    expect(returned(provider, 1)).toEqual([[thought("ours")]]);

    const app = appOf({ provider: scriptedProvider([]) });
    const routes = { one: looping([thought("by one")]), two: looping([]) };
    for (const [route, each] of Object.entries(routes)) {
      const reasoning = { store: app.stores.contentStore, route };
      app.effectRuntime.register(route, createAgentModelEffect(each, { reasoning }));
    }
    const messages: LlmMessage[] = [{ role: "user", content: "?" }];
    const { reasoning } = await app.effectRuntime.invokeTransient<ModelResponse>("one", { messages });
    expect(reasoning).toMatchObject([{ route: "one" }]);
    const next: LlmMessage[] = [
      ...messages,
      { role: "assistant", content: "Hm.", ...(reasoning && { reasoning }) },
      { role: "user", content: "And?" },
    ];
    await app.effectRuntime.invokeTransient("two", { messages: next });
    expect(returned(routes.two, 0)).toEqual([undefined]);
  });

  it("fails the step when the store is out of reach: that is no reason to forget", async () => {
    const store = {
      put: async () => ({ ref: `sha256:${"0".repeat(64)}`, size: 1 }),
      get: () => Promise.reject(new Error("Out of reach.")),
    };
    const { state } = await run(
      { provider: looping([thought("one")], []), reasoning: { store } },
      { turns: 2 },
    );
    expect(state.status).toBe("failed");
    expect(state.error).toMatchObject({ message: "Out of reach." });
  });

  it("has nothing to send back where nothing was kept", async () => {
    const provider = looping([thought("one")], []);
    await run({ provider, reasoning: {} }, { turns: 2 });
    expect(returned(provider, 1)).toEqual([undefined]);
  });
});

describe("what an app says", () => {
  const capable = scriptedProvider(["Done."]);
  const incapable = scriptedProvider(["Done."], { capabilities: {} });

  it("gives effects their store, and an effect's own wins", async () => {
    const puts: string[] = [];
    const storeNamed = (name: string) => ({
      put: async () => {
        puts.push(name);
        return { ref: `sha256:${"0".repeat(64)}`, size: 1 };
      },
      get: async () => null,
    });
    const app = appOf({ provider: scriptedProvider([]) });
    const defaults = { store: storeNamed("app") };
    const effects = {
      plain: createAgentModelEffect(looping([thought("one")])),
      own: createAgentModelEffect(looping([thought("one")]), { reasoning: { store: storeNamed("own") } }),
      out: createAgentModelEffect(looping([thought("one")]), { reasoning: false }),
    };
    for (const [id, effect] of Object.entries(effects)) {
      app.effectRuntime.register(id, withReasoningDefaults(effect, defaults));
      await app.effectRuntime.invokeTransient(id, { messages: [{ role: "user", content: "?" }] });
    }
    expect(puts).toEqual(["app", "own"]);
  });

  it("leaves other effects, and one that was told before, as they are", () => {
    const other = new ToolEffect(() => 1);
    expect(withReasoningDefaults(other, {})).toBe(other);
    const told = withReasoningDefaults(createAgentModelEffect(capable), { live: true });
    expect(withReasoningDefaults(told, false)).toBe(told);
  });

  it("warns of a model that reasons while nothing of it is kept", () => {
    const { contentStore: store } = appOf({ provider: capable }).stores;
    expect(reasoningWarning("model", createAgentModelEffect(capable), undefined)).toMatch(/model.*scripted/s);
    const silent = [
      reasoningWarning("model", createAgentModelEffect(incapable), undefined),
      reasoningWarning("model", createAgentModelEffect(capable), false),
      reasoningWarning("model", createAgentModelEffect(capable), { store }),
      reasoningWarning("model", createAgentModelEffect(capable, { reasoning: { store } }), undefined),
      reasoningWarning("model", createAgentModelEffect(capable, { reasoning: false }), undefined),
      reasoningWarning(
        "model",
        createAgentModelEffect(capable, { reasoning: { capture: false } }),
        undefined,
      ),
      reasoningWarning("tool", new ToolEffect(() => 1), undefined),
    ];
    expect(silent).toEqual(silent.map(() => undefined));
  });
});
