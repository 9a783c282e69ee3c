// What a schema marks: the step and the flow see it, live and on replay; readers see what it is called; the log holds it
// sealed. In memory and with simulated time; the bytes on the disk are searched in canary.test.ts.

import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  defineFlow,
  flow$,
  HeddleError,
  handler$,
  internal,
  isSecretText,
  secretRef,
  sensitive,
  step$,
  TypedFailure,
  Vault,
} from "../../src/kernel/index.js";
import { World } from "../support/world.js";
import { formsOf } from "./forms.js";

const key = (fill: number): Uint8Array => new Uint8Array(32).fill(fill);
const vaultOf = (current: string, keys: Record<string, Uint8Array>): Vault => new Vault({ current, keys });
const VAULT = vaultOf("k1", { k1: key(1) });
const PIN = "s3cret-pin-0042";

const Card = z.object({ owner: z.string(), pin: sensitive(z.string()) });

/** A flow whose input, step and output are marked, with a gate in the middle. */
function payments(seen: unknown[]) {
  const charge = step$({
    id: "charge",
    inputSchema: Card,
    outputSchema: z.object({ receipt: z.string(), token: sensitive(z.string()) }),
    handler: handler$(({ pin, owner }) => {
      seen.push(["step", pin]);
      return { receipt: `for ${owner}`, token: `token of ${pin}` };
    }),
  });
  return defineFlow(
    flow$({
      id: "payments",
      version: "1",
      inputSchema: Card,
      outputSchema: internal(z.object({ pin: z.string(), token: z.string() })),
      resumeSchemas: { code: sensitive(z.string()) },
    }),
    async (ctx, card) => {
      const { token } = await ctx.run(charge, card);
      const code = await ctx.suspend<string>({ on: "code" });
      seen.push(["flow", card.pin, token, code]);
      return { pin: card.pin, token };
    },
  );
}

describe("a marked value", () => {
  it("is given to step and flow, live and on replay after a restart, and to result()", async () => {
    const world = World.lmdb();
    const seen: unknown[] = [];
    const flow = payments(seen);
    const first = await world.open([flow], { vault: VAULT });
    await first.start(flow, { owner: "ann", pin: PIN });
    await world.settle();
    const process = await world.restart([flow], { vault: VAULT });
    await world.until(process.runtime.resume("x", { eventType: "code", payload: "code-123456" }));
    const result = await world.until(process.runtime.handle("x").result());
    expect(result).toEqual({ pin: PIN, token: `token of ${PIN}` });
    // A second asking reads it from the log.
    expect(await world.until(process.runtime.handle("x").result())).toEqual(result);
    expect(seen).toEqual([
      ["step", PIN],
      ["flow", PIN, `token of ${PIN}`, "code-123456"],
    ]);
  });

  it("is shown to nobody who reads: events, states, subscriptions, hooks", async () => {
    const world = World.lmdb();
    const flow = payments([]);
    const hooked: unknown[] = [];
    const onEvent = (event: unknown): number => hooked.push(event);
    const process = await world.open([flow], {
      vault: VAULT,
      onEvent,
      onDurableEvent: onEvent,
      snapshotEvery: 1,
    });
    await process.start(flow, { owner: "ann", pin: PIN });
    const state = await process.finish("x", { code: "code-123456" });
    const shown = JSON.stringify([state, hooked, await world.events(), await world.snapshots.load("x")]);
    for (const secret of [PIN, "code-123456"]) expect(shown).not.toContain(secret);
    expect(state).toMatchObject({
      input: { owner: "ann", pin: "[sensitive]" },
      variables: { _output: "[internal]" },
      frames: {
        charge: {
          input: { owner: "ann", pin: "[sensitive]" },
          output: { receipt: "for ann", token: "[sensitive]" },
        },
      },
      gates: { "code#0": { payload: "[sensitive]" } },
    });
  });

  it("is refused before anything is written when there is no key, with what to do", async () => {
    const world = World.memory();
    const flow = payments([]);
    const process = await world.open([flow]);
    const refused = process.start(flow, { owner: "ann", pin: PIN });
    await expect(refused).rejects.toMatchObject({
      code: "SEALING_KEY_MISSING",
      message: expect.stringMatching(/security\.sealingKey .*secretRef/) as unknown,
    });
    expect(await world.until(process.runtime.list())).toEqual([]);
  });

  it("whose step alone is marked: the start is refused, or the execution set aside until there is a key", async () => {
    const world = World.memory();
    const seen: string[] = [];
    const login = step$({
      id: "login",
      inputSchema: sensitive(z.string()),
      outputSchema: z.string(),
      handler: handler$((password) => {
        seen.push(password);
        return "in";
      }),
    });
    const flow = defineFlow(
      flow$({ id: "f", version: "1", inputSchema: z.boolean(), outputSchema: z.string() }),
      async (ctx, waits) => {
        if (waits) await ctx.suspend({ on: "go" });
        return ctx.run(login, PIN);
      },
    );
    const process = await world.open([flow]);
    await expect(process.start(flow, false, "at once")).rejects.toMatchObject({
      code: "SEALING_KEY_MISSING",
    });
    await process.start(flow, true);
    expect((await world.until(process.runtime.list())).map(({ id }) => id)).toEqual(["x"]);
    const resumed = process.runtime.resume("x", { eventType: "go" });
    await expect(world.until(resumed)).rejects.toMatchObject({
      code: "EXECUTION_SET_ASIDE",
      message: expect.stringContaining("sealingKey") as unknown,
    });
    expect(await world.types()).toEqual(["EXECUTION_STARTED", "EXECUTION_SUSPENDED"]);
    const keyed = await world.restart([flow], { vault: VAULT });
    expect(await keyed.finish("x", { go: 1 })).toMatchObject({ variables: { _output: "in" } });
    expect(seen).toEqual([PIN]);
  });

  it("in the payload of a gate is refused without a key, and the gate stays open", async () => {
    const world = World.memory();
    const flow = defineFlow(
      flow$({
        id: "f",
        version: "1",
        inputSchema: z.null(),
        outputSchema: z.unknown(),
        resumeSchemas: { code: sensitive(z.string()) },
      }),
      async (ctx) => ctx.suspend<unknown>({ on: "code" }),
    );
    const process = await world.open([flow]);
    await process.start(flow, null);
    const resumed = process.runtime.resume("x", { eventType: "code", payload: PIN });
    await expect(world.until(resumed)).rejects.toMatchObject({ code: "SEALING_KEY_MISSING" });
    expect(await process.runtime.loadState("x")).toMatchObject({ status: "suspended" });
    expect(await world.types()).toEqual(["EXECUTION_STARTED", "EXECUTION_SUSPENDED"]);
  });

  it("needs no key where it is absent or a reference", async () => {
    const world = World.memory();
    const ask = step$({
      id: "ask",
      inputSchema: z.object({
        key: sensitive(z.custom<string>(isSecretText)),
        note: sensitive(z.string().optional()),
      }),
      outputSchema: z.unknown(),
      handler: handler$(({ key }) => key),
    });
    const flow = defineFlow(
      flow$({ id: "f", version: "1", inputSchema: z.null(), outputSchema: z.unknown() }),
      (ctx) => ctx.run(ask, { key: secretRef("stripe"), note: undefined }),
    );
    const process = await world.open([flow]);
    const handle = await process.start(flow, null);
    expect(await world.until(handle.result())).toEqual({ __heddleSecret: "stripe" });
  });

  it.each([
    ["missing", undefined],
    ["another", vaultOf("k1", { k1: key(9) })],
    ["in the ring under another id", vaultOf("k2", { k2: key(1) })],
  ])("sets its execution aside when its key is %s, and leaves the others alone", async (_how, vault) => {
    const world = World.lmdb();
    const flow = payments([]);
    const plain = defineFlow(
      flow$({ id: "plain", version: "1", inputSchema: z.null(), outputSchema: z.string() }),
      (ctx) => ctx.suspend<string>({ on: "go" }),
    );
    const first = await world.open([flow, plain], { vault: VAULT });
    await first.start(flow, { owner: "ann", pin: PIN });
    await first.start(plain, null, "other");
    await world.settle();
    const before = await world.events();

    const wrong = await world.restart([flow, plain], { vault });
    const resumed = wrong.runtime.resume("x", { eventType: "code", payload: "code-123456" });
    await expect(world.until(resumed)).rejects.toMatchObject({ code: "EXECUTION_SET_ASIDE" });
    const [header] = (await world.until(wrong.runtime.list({ status: "setAside" }))) ?? [];
    expect(header).toMatchObject({ id: "x", aside: { code: "SEALED_UNREADABLE" } });
    await world.until(wrong.runtime.resume("other", { eventType: "go", payload: "fine" }));
    expect(await world.until(wrong.runtime.handle("other").result())).toBe("fine");

    const right = await world.restart([flow, plain], { vault: VAULT });
    expect((await world.events()).slice(0, before.length)).toEqual(before);
    expect(await right.finish("x", { code: "code-123456" })).toMatchObject({ status: "completed" });
  });

  it("goes on under a new key while the old one is in the ring, and attaches a repeated start", async () => {
    const world = World.lmdb();
    const seen: unknown[] = [];
    const flow = payments(seen);
    const first = await world.open([flow], { vault: VAULT });
    await first.start(flow, { owner: "ann", pin: PIN });
    await world.settle();
    const rotated = vaultOf("k2", { k1: key(1), k2: key(2) });
    const process = await world.restart([flow], { vault: rotated });
    await process.start(flow, { owner: "ann", pin: PIN }); // attaches
    await expect(process.start(flow, { owner: "ann", pin: "another pin" })).rejects.toMatchObject({
      code: "EXECUTION_CONFLICT",
    });
    expect(await process.finish("x", { code: "code-123456" })).toMatchObject({ status: "completed" });
    expect(seen.at(-1)).toEqual(["flow", PIN, `token of ${PIN}`, "code-123456"]);
    // What was sealed under the new key needs no other.
    const only = await world.restart([flow], { vault: vaultOf("k2", { k2: key(2) }) });
    await expect(world.until(only.runtime.handle("x").result())).resolves.toMatchObject({ pin: PIN });
  });

  it("whose mark is new to an execution under way is kept open where it was, and sealed from then on", async () => {
    const world = World.lmdb();
    const flowWith = (mark: (schema: z.ZodType<string>) => z.ZodType<string>) => {
      const use = (id: string) =>
        step$({
          id,
          inputSchema: z.object({ pin: mark(z.string()) }),
          outputSchema: z.object({ pin: mark(z.string()) }),
          handler: handler$((input) => input),
        });
      return defineFlow(
        flow$({ id: "f", version: "1", inputSchema: mark(z.string()), outputSchema: z.null() }),
        async (ctx, pin) => {
          await ctx.run(use("before"), { pin });
          ctx.emit("said", { pin });
          ctx.stream("words", `it is ${pin}`);
          ctx.ui.set("form", { pin });
          await ctx.suspend({ on: "go" });
          await ctx.run(use("after"), { pin });
          ctx.emit("said", { pin });
          return null;
        },
      );
    };
    const first = await world.open([flowWith((schema) => schema)], { vault: VAULT });
    await first.start(
      flowWith((schema) => schema),
      PIN,
    );
    await world.settle();
    const marked = await world.restart([flowWith(sensitive)], { vault: VAULT });
    await marked.start(flowWith(sensitive), PIN); // attaches
    expect(await marked.finish("x", { go: 1 })).toMatchObject({ status: "completed" });
    const shown = (await world.events()).map((event) => JSON.stringify(event));
    const from = shown.findIndex((event) => event.includes("EXECUTION_RESUMED"));
    expect(shown.slice(from).join()).not.toContain(PIN);
    expect(shown.slice(from).join()).toContain("[sensitive]");
  });

  it("is not in the words of a schema that refuses it", async () => {
    const world = World.memory();
    const words = { error: (issue: { readonly input?: unknown }) => `bad: ${JSON.stringify(issue.input)}` };
    const picky = sensitive(z.string().regex(/^never$/, words));
    const flowWith = (id: string, inputSchema: z.ZodType, outputSchema: z.ZodType, errors = {}) => {
      const step = step$({
        id: "step",
        inputSchema,
        outputSchema,
        errors,
        handler: handler$((): unknown => {
          if (id === "channel") throw new TypedFailure("refused", { pin: PIN });
          return { pin: PIN };
        }),
      });
      return defineFlow(
        flow$({ id, version: "1", inputSchema: z.null(), outputSchema: z.unknown() }),
        (ctx) => ctx.run(step, { pin: PIN }),
      );
    };
    const bad = z.object({ pin: picky });
    const flows = [
      flowWith("input", bad, z.unknown()),
      flowWith("output", z.unknown(), bad),
      flowWith("channel", z.unknown(), z.unknown(), { refused: bad }),
      defineFlow(flow$({ id: "flow", version: "1", inputSchema: z.null(), outputSchema: bad }), async () => ({
        pin: PIN,
      })),
    ];
    const process = await world.open(flows, { vault: VAULT });
    for (const flow of flows) {
      const { id } = flow.definition;
      await process.start(flow, null, id);
      const state = await process.finish(id);
      expect(state).toMatchObject({ status: "failed" });
      // What an unmarked schema takes is no concern of this test.
      const events = (await world.events(id)).filter(({ type }) => type !== "STEP_STARTED");
      const shown = inspect(events, { depth: 20 });
      expect([id, shown.includes("bad: "), shown.includes(PIN)]).toEqual([id, true, false]);
    }
  });

  it("that changed makes a replay diverge, and the message shows neither value", async () => {
    const world = World.lmdb();
    const flowWith = (pin: string) => {
      const use = step$({
        id: "use",
        inputSchema: Card,
        outputSchema: z.null(),
        handler: handler$(() => null),
      });
      return defineFlow(
        flow$({ id: "f", version: "1", inputSchema: z.null(), outputSchema: z.null() }),
        async (ctx) => {
          await ctx.run(use, { owner: "ann", pin });
          await ctx.suspend({ on: "go" });
          return null;
        },
      );
    };
    const first = await world.open([flowWith(PIN)], { vault: VAULT });
    await first.start(flowWith(PIN), null);
    await world.settle();
    const other = await world.restart([flowWith("other-pin-1")], { vault: VAULT });
    const resumed = other.runtime.resume("x", { eventType: "go" });
    const error: unknown = await world.until(resumed.catch((caught: unknown) => caught));
    expect(error).toMatchObject({ code: "EXECUTION_SET_ASIDE" });
    const text = `${String(error)} ${other.warnings.join()}`;
    expect(text).toMatch(/input\.pin: recorded "\[sensitive\]", attempted "\[sensitive\]"/);
    expect(text).not.toContain(PIN);
  });

  it("is not in an error that its step throws, nor in its cause, properties, code or stack", async () => {
    const world = World.memory();
    const fails = step$({
      id: "fails",
      inputSchema: Card,
      outputSchema: z.null(),
      retry: { maxAttempts: 2, baseDelayMs: 1 },
      handler: handler$(({ pin }): null => {
        const cause = Object.assign(new TypeError(`inner ${pin}`), { code: `E_${pin}` });
        throw Object.assign(new Error(`no luck with ${pin}`, { cause }), {
          headers: { authorization: `Basic ${Buffer.from(`ann:${pin}`).toString("base64")}` },
          hex: Buffer.from(pin).toString("hex"),
          bytes: Buffer.from(`..${pin}..`),
          [pin]: true,
        });
      }),
    });
    const flow = defineFlow(
      flow$({ id: "f", version: "1", inputSchema: Card, outputSchema: z.null() }),
      async (ctx, card) => {
        try {
          return await ctx.run(fails, card);
        } catch (error) {
          throw new Error(`the flow failed for ${card.pin}`, { cause: error });
        }
      },
    );
    const process = await world.open([flow], { vault: VAULT });
    await process.start(flow, { owner: "ann", pin: PIN });
    const state = await process.finish("x");
    expect(state).toMatchObject({
      status: "failed",
      error: { message: "the flow failed for [sensitive]", cause: { message: "no luck with [sensitive]" } },
    });
    const all = inspect([state, await world.events()], {
      depth: 20,
      showHidden: true,
      maxStringLength: null,
    });
    for (const form of formsOf(PIN)) expect(all).not.toContain(form);
    expect((await world.types()).filter((type) => type === "STEP_RETRIED")).toHaveLength(1);
  });

  it("is sealed in a typed failure too, and the flow still branches on it", async () => {
    const world = World.memory();
    const caught: unknown[] = [];
    const refuses = step$({
      id: "refuses",
      inputSchema: z.null(),
      outputSchema: z.null(),
      errors: { refused: z.object({ pin: sensitive(z.string()), n: z.number() }) },
      handler: handler$((): null => {
        throw new TypedFailure("refused", { pin: "4711", n: 2 });
      }),
    });
    const flow = defineFlow(
      flow$({ id: "f", version: "1", inputSchema: z.null(), outputSchema: z.null() }),
      async (ctx) => {
        try {
          return await ctx.run(refuses, null);
        } catch (error) {
          caught.push(error instanceof TypedFailure && error.payload);
          throw error;
        }
      },
    );
    const process = await world.open([flow], { vault: VAULT });
    await process.start(flow, null);
    const state = await process.finish("x");
    expect(caught).toEqual([{ pin: "4711", n: 2 }]);
    expect(state.frames["refuses"]).toMatchObject({
      channel: "refused",
      payload: { pin: "[sensitive]", n: 2 },
    });
    expect(JSON.stringify([state, await world.events()])).not.toContain("4711");
  });

  it("carries its mark to where a flow or a step passes it on without one", async () => {
    const world = World.memory();
    const seen: unknown[] = [];
    const step = step$({
      id: "unmarked",
      inputSchema: z.unknown(),
      outputSchema: z.unknown(),
      handler: handler$((input, ctx) => {
        seen.push(input);
        ctx.emit("said", { input });
        return { again: input, [`key ${PIN}`]: 1 };
      }),
    });
    const flow = defineFlow(
      flow$({ id: "f", version: "1", inputSchema: Card, outputSchema: z.unknown() }),
      async (ctx, { pin }) => {
        ctx.emit("emitted", { url: `https://x/?q=${encodeURIComponent(pin)}` });
        ctx.stream("streamed", `the pin is ${pin}`);
        ctx.ui.set("surface", { pin });
        const output = await ctx.run(step, { header: `Bearer ${pin}` });
        const choice = await ctx.decide("choice", () => pin);
        return { output, choice, bytes: Buffer.from(pin) };
      },
    );
    const process = await world.open([flow], { vault: VAULT });
    const handle = await process.start(flow, { owner: "ann", pin: PIN });
    const result = await world.until(handle.result());
    expect(seen).toEqual([{ header: `Bearer ${PIN}` }]);
    expect(result).toEqual({
      output: { again: { header: `Bearer ${PIN}` }, [`key ${PIN}`]: 1 },
      choice: PIN,
      bytes: Buffer.from(PIN),
    });
    const events = await world.events();
    expect(JSON.stringify(events)).not.toContain(PIN);
    const payloads = Object.fromEntries(events.map(({ type, payload }) => [type, payload]));
    expect(payloads).toMatchObject({
      said: { input: { header: "Bearer [sensitive]" } },
      emitted: { url: "https://x/?q=[sensitive]" },
      streamed: { delta: "the pin is [sensitive]" },
      STEP_STARTED: { input: { header: "[sensitive]" } },
      STEP_COMPLETED: { output: "[sensitive]" },
      DECISION_RECORDED: { choice: "[sensitive]" },
      EXECUTION_COMPLETED: { output: "[sensitive]" },
    });
    // Equal on replay, too: the same again from the log of a flow that was passivated at every point.
    const again = World.memory();
    const dropping = await again.open([flow], { vault: VAULT, maxResident: 0 });
    const replayed = await dropping.start(flow, { owner: "ann", pin: PIN });
    expect(await again.until(replayed.result())).toEqual(result);
    expect((await again.events()).map(({ type }) => type)).toEqual(events.map(({ type }) => type));
  });

  it("that cannot be kept is refused without naming what is in it", async () => {
    const error = (() => {
      try {
        VAULT.seal("x", new Map([[PIN, () => 1]]), "sensitive", { bytesMax: 1e6, depthMax: 500 });
        return undefined;
      } catch (caught) {
        return caught as HeddleError;
      }
    })();
    expect(error).toMatchObject({ code: "VALUE_NOT_RECORDABLE" });
    expect(error?.message).not.toContain(PIN);
  });

  it("gives other bytes in another execution, under another key and another label, and the same in the same", () => {
    const limits = { bytesMax: 1e6, depthMax: 500 };
    const bytes = (vault: Vault, id: string, label: "sensitive" | "internal"): string =>
      Buffer.from(vault.seal(id, PIN, label, limits).special.parts[3] as Uint8Array).toString("hex");
    const all = [
      bytes(VAULT, "a", "sensitive"),
      bytes(VAULT, "b", "sensitive"),
      bytes(VAULT, "a", "internal"),
      bytes(vaultOf("k1", { k1: key(2) }), "a", "sensitive"),
    ];
    expect(new Set(all).size).toBe(all.length);
    expect(bytes(vaultOf("k1", { k1: key(1) }), "a", "sensitive")).toBe(all[0]);
  });
});
