// Claim checks in executions: what the log records, what a replay needs, what becomes of streams and of content.

import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  type ClaimCheckConfig,
  type ClaimCheckEnvelope,
  type EffectRuntime,
  isClaimCheck,
  type LoomApp,
  resolveClaimCheck,
  resolveClaimCheckBytes,
  secretRef,
  sensitive,
  step$,
  streamResult,
  sweepUnpinnedContent,
  ToolEffect,
  tainted,
} from "../../../src/index.js";
import { MemoryEventStore, MemorySnapshotStore } from "../../../src/kernel/index.js";
import { flow, openApp, step, temporaryDirectory, within } from "../../lifecycle/world.js";
import { contentRows } from "../../support/content-rows.js";
import { until } from "../../support/until.js";

const rows = Array.from({ length: 5_000 }, (_, n) => ({ n }));
const task = (id: string, toolId = id) => ({ id, toolId });
const claimCheck: ClaimCheckConfig = { toolIds: ["read", "shout", "bytes"] };

const effects = (runtime: EffectRuntime): void => {
  runtime.register("read", new ToolEffect(() => rows));
  runtime.register("count", new ToolEffect((list: readonly unknown[]) => list.length));
  runtime.register("bytes", new ToolEffect((bytes: Buffer) => Buffer.from(bytes).reverse()));
  runtime.register(
    "dump",
    new ToolEffect((pieces: number) =>
      streamResult(Readable.from(Array.from({ length: pieces }, (_, n) => `${n}\n`)), { digest: { pieces } }),
    ),
  );
  runtime.register(
    "breaks",
    new ToolEffect(() =>
      streamResult(
        (async function* () {
          yield Buffer.alloc(3_000_000);
          throw new Error("the cable was cut");
        })(),
      ),
    ),
  );
};

const outcomeOf = (app: LoomApp, input: unknown, run = "reader"): Promise<unknown> =>
  within(
    app.runtime
      .start(flows[run as keyof typeof flows], input, { executionId: run })
      .then((handle) => handle.result())
      .catch((error: Error) => error.cause ?? error),
    "the outcome",
  );

const flows = {
  reader: flow("reader", async (ctx) => ctx.execute(task("read"), null)),
  both: flow("both", async (ctx) => {
    const envelope = await ctx.execute(task("read"), null);
    const count = await ctx.execute(task("shout", "count"), envelope);
    return { envelope, count };
  }),
  passing: flow("passing", async (ctx, input) => ctx.execute(task("bytes"), input)),
  dumper: flow("dumper", async (ctx, input) => ctx.execute(task("dump"), input)),
  breaker: flow("breaker", async (ctx) => ctx.execute(task("breaks"), null)),
  waiter: flow("waiter", async (ctx) => {
    const envelope = await ctx.execute(task("read"), null);
    await ctx.suspend({ on: "Go" });
    return envelope;
  }),
  citing: flow("citing", async (ctx) => {
    const envelope = await ctx.execute<unknown, ClaimCheckEnvelope>({ id: "read" }, null);
    await ctx.emit("Finding", { evidence: envelope.ref });
    return "found";
  }),
};

function openWith(config: Partial<ClaimCheckConfig> = {}, dir?: string): LoomApp {
  return openApp({
    ...(dir !== undefined && { dir }),
    flows: Object.values(flows),
    execution: { registerEffects: effects, claimCheck: { ...claimCheck, ...config } },
  });
}

const outputOf = async (app: LoomApp, id: string, stepId: string): Promise<unknown> =>
  (await app.runtime.loadState(id)).frames[stepId]?.output;

describe.each([
  ["in memory", () => undefined],
  ["on LMDB", temporaryDirectory],
])("a step whose tool is claim-checked, %s", (_where, directory) => {
  it("records the envelope of a large result, which the flow gets, with a preview", async () => {
    const app = openWith({}, directory());
    const envelope = await outcomeOf(app, null);
    expect(envelope).toEqual({
      __loomClaimCheck: true,
      ref: expect.any(String) as string,
      size: JSON.stringify(rows).length,
      digest: { preview: JSON.stringify(rows).slice(0, 256), truncated: true },
      retain: true,
    });
    expect(await outputOf(app, "reader", "read")).toEqual(envelope);
    expect(await resolveClaimCheck(app.stores.contentStore, envelope)).toEqual(rows);
  });

  it("gets the value for an envelope that a flow hands on, and the log has the envelope", async () => {
    const app = openWith({ toolIds: ["read", "count"] }, directory());
    const { envelope, count } = (await outcomeOf(app, null, "both")) as {
      envelope: unknown;
      count: unknown;
    };
    expect(count).toBe(5_000);
    expect((await app.runtime.loadState("both")).frames["shout"]?.input).toEqual(envelope);
  });

  it("takes content that was put by the host", async () => {
    const app = openWith({ toolIds: ["bytes"] }, directory());
    await app.start();
    const { ref, size } = await app.stores.contentStore.put(Buffer.alloc(100_000, "ab"));
    const output = await outcomeOf(app, { __loomClaimCheck: true, ref, size, codec: "bytes" }, "passing");
    expect(await resolveClaimCheck(app.stores.contentStore, output)).toEqual(Buffer.alloc(100_000, "ba"));
  });

  it("puts a stream away, also for tools that are not listed", async () => {
    const app = openWith({ toolIds: [] }, directory());
    const envelope = await outcomeOf(app, 100_000, "dumper");
    expect(envelope).toMatchObject({ size: 588_890, digest: { pieces: 100_000 }, codec: "bytes" });
    const bytes = await resolveClaimCheckBytes(app.stores.contentStore, envelope);
    expect(
      Buffer.from(bytes ?? [])
        .toString()
        .slice(-6),
    ).toBe("99999\n");
    expect(await outputOf(app, "dumper", "dump")).toEqual(envelope);
  });

  it("fails typed when the stream breaks, and nothing of it stays", async () => {
    const dir = directory();
    const app = openWith({}, dir);
    expect(await outcomeOf(app, null, "breaker")).toMatchObject({ message: "the cable was cut" });
    expect(await app.stores.contentStore.sweep({ olderThanMs: 0 })).toEqual({ removed: 0, bytes: 0 });
    await app.close();
    if (dir !== undefined) expect(await contentRows(dir)).toEqual({});
  });

  it("records a digest that throws, and the rest goes on", async () => {
    const digests = {
      read: (): never => {
        throw new Error("no such column");
      },
    };
    const app = openWith({ digests }, directory());
    expect(await outcomeOf(app, null)).toMatchObject({ code: "DIGEST_FAILED" });
    expect((await app.runtime.loadState("reader")).frames["read"]).toMatchObject({
      status: "failed",
      error: { code: "DIGEST_FAILED" },
    });
    expect(await outcomeOf(app, 3, "dumper")).toMatchObject({ size: 6 });
  });
});

describe("content that a log cites", () => {
  it("stays, unless its tool is reclaimable", async () => {
    const app = openWith();
    const kept = (await outcomeOf(app, null)) as ClaimCheckEnvelope;
    expect(await app.stores.contentStore.references(kept.ref)).toEqual({ executions: 1, isPinned: true });
    expect(await sweepUnpinnedContent(app.stores.contentStore, { olderThanMs: 0 })).toMatchObject({
      removed: 0,
    });
    const other = openWith({ reclaimable: ["read"] });
    const loose = (await outcomeOf(other, null)) as ClaimCheckEnvelope;
    expect(loose).not.toHaveProperty("retain");
    expect(await sweepUnpinnedContent(other.stores.contentStore, { olderThanMs: 0 })).toMatchObject({
      removed: 1,
    });
    expect(await resolveClaimCheck(other.stores.contentStore, loose)).toBeNull();
  });

  it("stays as long as a domain event cites it", async () => {
    const app = openWith({ reclaimable: true });
    expect(await outcomeOf(app, null, "citing")).toBe("found");
    expect(await sweepUnpinnedContent(app.stores.contentStore, { olderThanMs: 0 })).toMatchObject({
      removed: 0,
    });
  });
});

describe("a replay", () => {
  it("gives the same though the content is gone, and asks no content store", async () => {
    const dir = temporaryDirectory();
    const first = openWith({ reclaimable: true }, dir);
    const handle = await first.runtime.start(flows.waiter, null, { executionId: "w" });
    await within(handle.waitForSuspend(), "the gate");
    const envelope = (await outputOf(first, "w", "read")) as ClaimCheckEnvelope;
    expect(await first.stores.contentStore.delete(envelope.ref)).toBe(true);
    await first.close();

    const untouchable = new Proxy({} as NonNullable<ClaimCheckConfig["store"]>, {
      get: (_target, name) => {
        if (name === "put") return () => Promise.reject(new Error("a replay stored something"));
        throw new Error(`a replay asked the content store for ${String(name)}`);
      },
    });
    const second = openWith({ store: untouchable }, dir);
    await second.start();
    await second.runtime.resume("w", { eventType: "Go" });
    expect(await within(second.runtime.handle("w").result(), "the result")).toEqual(envelope);
  });
});

describe("a cancelled execution", () => {
  it("lets go of the stream it was putting away, and keeps nothing of it", async () => {
    const dir = temporaryDirectory();
    const stream = new Readable({ read() {} });
    const endless = flow("endless", async (ctx) =>
      ctx.run(
        step("pours", () => streamResult(stream)),
        null,
      ),
    );
    const app = openApp({ dir, flows: [endless], execution: { claimCheck: { toolIds: [] } } });
    const handle = await app.runtime.start(endless, null, { executionId: "e" });
    stream.push(Buffer.alloc(3_000_000));
    await until(() => stream.readableLength === 0, "the stream is read");
    await app.runtime.cancel("e", "enough");
    expect((await within(handle.waitForCompletion(), "the end")).status).toBe("cancelled");
    await until(() => stream.destroyed, "the stream is closed");
    await app.close();
    expect(await contentRows(dir)).toEqual({});
    const again = openApp({ dir, flows: [endless] });
    await again.start();
    expect(await again.stores.contentStore.sweep({ olderThanMs: 0 })).toEqual({ removed: 0, bytes: 0 });
  });
});

describe("without a claim check", () => {
  const streams: Readable[] = [];
  const made = (): Readable => {
    const stream = new Readable({ read() {} });
    streams.push(stream);
    return stream;
  };

  it.each<[what: string, result: () => unknown, advice: string]>([
    ["a stream", () => made(), "streamResult"],
    ["a stream in a property", () => ({ body: made() }), "streamResult"],
    ["a stream in a list of rows", () => ({ rows: [{ body: made() }] }), "streamResult"],
    ["a tainted streamResult", () => tainted(streamResult(made()), "web"), "cannot be recorded"],
    ["a streamResult", () => streamResult(made()), "execution: { claimCheck"],
  ])("%s is refused typed, with what to do, and destroyed", async (_what, result, advice) => {
    const leaky = flow("leaky", async (ctx) => {
      const [leaked, healthy] = await ctx.parallel([
        () => ctx.run(step("leaks", result), null).catch((error: unknown) => error),
        () =>
          ctx.run(
            step("sibling", () => "well"),
            null,
          ),
      ]);
      return { leaked, healthy };
    });
    const app = openApp({ flows: [leaky] });
    const handle = await app.runtime.start(leaky, null);
    const { leaked, healthy } = (await within(handle.result(), "the result")) as {
      leaked: Error;
      healthy: unknown;
    };
    expect(healthy).toBe("well");
    expect(leaked).toMatchObject({ code: "VALUE_NOT_RECORDABLE" });
    expect(leaked.message).toContain(advice);
    expect(streams.at(-1)?.destroyed).toBe(true);
  });
});

describe("an outputSchema", () => {
  const reading = (outputSchema: z.ZodType) =>
    flow("schema", async (ctx) => ctx.run(step$({ id: "read", inputSchema: z.null(), outputSchema }), null));
  const run = async (outputSchema: z.ZodType): Promise<unknown> => {
    const app = openApp({
      flows: [reading(outputSchema)],
      execution: { registerEffects: effects, claimCheck },
    });
    const handle = await app.runtime.start(reading(outputSchema), null);
    return handle.result().catch((error: Error) => error.cause);
  };

  it("that lets envelopes through sees them", async () => {
    const schema = z.union([z.custom<ClaimCheckEnvelope>(isClaimCheck), z.array(z.unknown())]);
    expect(isClaimCheck(await run(schema))).toBe(true);
  });

  it("that refuses an envelope, or would strip it, is OUTPUT_INVALID with the way out", async () => {
    for (const schema of [z.array(z.unknown()), z.object({ size: z.number() })]) {
      expect(await run(schema)).toMatchObject({
        code: "OUTPUT_INVALID",
        message: expect.stringContaining("z.custom<ClaimCheckEnvelope>(isClaimCheck)") as string,
      });
    }
  });
});

describe("execution.claimCheck", () => {
  it.each([
    ["no object", 1, ""],
    ["no tools", {}, ".toolIds"],
    ["a misspelt option", { toolIds: [], digest: {} }, ".digest"],
    ["a digest that is none", { toolIds: [], digests: { read: "rows" } }, ".digests"],
    ["a cap below 0", { toolIds: [], inlineCapBytes: -1 }, ".inlineCapBytes"],
    ["a preview that is none", { toolIds: [], preview: true }, ".preview"],
    ["reclaimable: false", { toolIds: [], reclaimable: false }, ".reclaimable"],
    ["a store without put", { toolIds: [], store: {} }, ".store"],
    ["onOffload as text", { toolIds: [], onOffload: "log" }, ".onOffload"],
  ])("is refused with %s, naming the option", (_what, config, option) => {
    const open = (): LoomApp => openApp({ execution: { claimCheck: config as ClaimCheckConfig } });
    expect(open).toThrow(
      expect.objectContaining({
        code: "CONFIG_INVALID",
        details: { option: `execution.claimCheck${option}` },
      }),
    );
  });

  it("with a storage that keeps no content says so when something is to be put away", async () => {
    const app = openApp({
      storage: {
        kind: "custom",
        eventStore: new MemoryEventStore(),
        snapshotStore: new MemorySnapshotStore(),
      },
      flows: [flows.reader],
      execution: { registerEffects: effects, claimCheck },
    });
    expect(await outcomeOf(app, null)).toMatchObject({
      code: "CONFIG_INVALID",
      details: { option: "storage.contentStore" },
    });
  });
});

describe("C-EFF-05: what cannot be put away either", () => {
  const locked = (): ReadableStream => {
    const stream = new Blob(["x"]).stream();
    stream.getReader();
    return stream;
  };

  it.each<[what: string, result: () => unknown, path: string]>([
    ["a function", () => ({ rows: [1, { cb() {} }], text: "x".repeat(20_000) }), "value.rows[1].cb"],
    ["a locked stream", locked, "value"],
    ["a symbol in a large list", () => [...rows, Symbol("s")], `value[${rows.length}]`],
  ])("%s fails its step with the path, and its sibling goes on", async (_what, result, path) => {
    const beside = flow("beside", async (ctx) =>
      ctx.parallel([
        () => ctx.execute({ id: "odd" }, null).catch((error: unknown) => error),
        () => ctx.execute({ id: "read" }, null),
      ]),
    );
    const app = openApp({
      flows: [beside],
      execution: {
        registerEffects: (runtime) => {
          effects(runtime);
          runtime.register("odd", new ToolEffect(result));
        },
        claimCheck: { toolIds: ["odd", "read"] },
      },
    });
    const handle = await app.runtime.start(beside, null);
    const [failure, sibling] = (await within(handle.result(), "both")) as readonly unknown[];
    expect(failure).toMatchObject({ code: "VALUE_NOT_RECORDABLE", details: { path } });
    expect(isClaimCheck(sibling)).toBe(true);
  });
});

describe("a secret in a result that is too large for the log", () => {
  const padding = "x".repeat(17 * 1024 * 1024);

  it("that was resolved for the effect is not put away with it", async () => {
    const leaks = flow("leaks", async (ctx) => ctx.execute({ id: "call" }, { key: secretRef("stripe") }));
    const app = openApp({
      flows: [leaks],
      security: { secrets: { resolver: () => "sk_live_123456" } },
      execution: {
        registerEffects: (runtime) =>
          runtime.register("call", new ToolEffect(({ key }: { key: string }) => ({ padding, key }))),
        claimCheck: { toolIds: ["call"] },
      },
    });
    const handle = await app.runtime.start(leaks, null);
    const envelope = await within(handle.result(), "the envelope");
    expect(isClaimCheck(envelope)).toBe(true);
    const bytes = await resolveClaimCheckBytes(app.stores.contentStore, envelope);
    expect(bytes?.length).toBeGreaterThan(padding.length);
    expect(Buffer.from(bytes ?? []).includes("sk_live")).toBe(false);
  });

  it("does not stand in the way of results without one, where values are sealed", async () => {
    const plain = flow("plain", async (ctx, input) => ctx.execute({ id: "call" }, input), {
      inputSchema: sensitive(z.string()),
    });
    const app = openApp({
      flows: [plain],
      security: { sealingKey: Buffer.alloc(32, 7) },
      execution: {
        registerEffects: (runtime) => runtime.register("call", new ToolEffect(() => ({ padding }))),
        claimCheck: { toolIds: ["call"] },
      },
    });
    const handle = await app.runtime.start(plain, "a secret of the customer");
    expect(isClaimCheck(await within(handle.result(), "the envelope"))).toBe(true);
  });
});
