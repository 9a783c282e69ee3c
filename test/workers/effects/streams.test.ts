// Results that come from a thread of the pool in pieces, whether executions live in the host's thread or in partition threads:
// they arrive whole, no faster than they are stored, and what is cut short is a typed failure that leaves nothing behind.

import { join } from "node:path";
import {
  type ClaimCheckEnvelope,
  defineConfig,
  type HeddleApp,
  type HeddleConfig,
  lmdbStorage,
  resolveClaimCheck,
  resolveClaimCheckBytes,
} from "heddle";
import { describe, expect, it, onTestFinished } from "vitest";
import { contentRows } from "../../support/content-rows.js";
import { errorOf, marksIn, temporaryDirectory, until, within } from "../partitions/world.js";
import { claimCheck, pair, single } from "./programs/streams.mjs";

const MODULE = new URL("./programs/streams.mjs", import.meta.url);

function openApp(
  actors: number,
  options: Partial<HeddleConfig["execution"]> = { claimCheck },
  dir = temporaryDirectory(),
): HeddleApp {
  const app = defineConfig({
    storage: lmdbStorage({ dir, partitions: Math.max(1, actors), sync: "commit" }),
    flows: [single, pair],
    workers: { actors, app: MODULE, effects: { module: MODULE, maxThreads: Math.max(1, actors) } },
    ...(actors === 0 && options && { execution: options }),
  });
  onTestFinished(() => app.close({ deadlineMs: 0 }));
  return app;
}

const start = (app: HeddleApp, toolId: string, input: object, options = {}) =>
  app.runtime.start(single, { toolId, input, options }, { executionId: toolId });

async function resultOf(app: HeddleApp, toolId: string, input: object, options = {}): Promise<unknown> {
  const handle = await start(app, toolId, input, options);
  const { result, sibling } = (await within(handle.result(), toolId)) as {
    result: unknown;
    sibling: unknown;
  };
  expect(sibling).toBe("well");
  return result;
}

const failureOf = async (app: HeddleApp, toolId: string, input: object, options = {}): Promise<unknown> => {
  const handle = await start(app, toolId, input, options);
  return (await within(errorOf(handle.result()), toolId)).cause;
};

const markFile = (): { readonly file: string; readonly lines: () => string[] } => {
  const file = join(temporaryDirectory(), "marks");
  return { file, lines: () => marksIn(file) };
};

describe.each([
  ["in the host's thread", 0],
  ["in two partition threads", 2],
])("a streamResult from the pool, its execution %s", (_where, actors) => {
  it("is stored whole, with the digest that was computed while it was produced", async () => {
    const app = openApp(actors);
    const envelope = (await resultOf(app, "dump", { pieces: 50 })) as ClaimCheckEnvelope;
    expect(envelope).toEqual({
      __loomClaimCheck: true,
      ref: expect.any(String) as string,
      size: 5_000_000,
      digest: { given: 5_000_000 },
      codec: "bytes",
      contentType: "application/x-dump",
    });
    const bytes = await resolveClaimCheckBytes(app.stores.contentStore, envelope);
    const expected = Buffer.concat(Array.from({ length: 50 }, (_, n) => Buffer.alloc(100_000, n)));
    expect(expected.equals(bytes ?? Buffer.of())).toBe(true);
  });

  it("may be empty", async () => {
    const app = openApp(actors);
    expect(await resultOf(app, "dump", { pieces: 0 })).toMatchObject({ size: 0, digest: { given: 0 } });
  });

  it("that fails half way fails the step with its error", async () => {
    const app = openApp(actors);
    expect(await failureOf(app, "breaks", { pieces: 40, breakAt: 20 })).toMatchObject({
      message: "the cable was cut",
      code: "ECABLE",
    });
  });

  it("whose thread dies half way is EFFECT_WORKER_LOST, and is made again where a policy says so", async () => {
    const app = openApp(actors);
    expect(await failureOf(app, "dies", { pieces: 40, breakAt: 20 })).toMatchObject({
      code: "EFFECT_WORKER_LOST",
    });
    const retry = { maxAttempts: 2, baseDelayMs: 1 };
    expect(await resultOf(app, "diesOnce", { pieces: 40, breakAt: 20 }, { retry })).toMatchObject({
      size: 4_000_000,
    });
  });

  it("whose thread dies half way is in doubt when it may not be repeated", async () => {
    const app = openApp(actors);
    const handle = await start(app, "dies", { pieces: 40, breakAt: 20 }, { idempotent: false });
    const { frames } = await within(handle.waitForSuspend(), "doubt");
    expect(frames["step"]?.status).toBe("inDoubt");
  });

  it("whose thread is taken down by another call is made again, and charged nothing", async () => {
    const app = openApp(actors);
    const { file, lines } = markFile();
    const handle = await app.runtime.start(pair, {
      dump: { file, pieces: 30, ms: 10 },
      exits: { file, done: `${file}-done` },
    });
    const [envelope, other] = (await within(handle.result(), "pair")) as readonly unknown[];
    expect(other).toBe("well");
    expect(envelope).toMatchObject({ size: 3_000_000 });
    expect(lines().filter((line) => line.startsWith("begin"))).toEqual(["begin 1", "begin 1"]);
  });

  it("is let go of in its thread when the execution is cancelled", async () => {
    const app = openApp(actors);
    const { file, lines } = markFile();
    const handle = await start(app, "dump", { file, pieces: 1e9, ms: 1 });
    await until(() => lines().length > 20, "the stream flows");
    await app.runtime.cancel(handle.executionId, "enough");
    await until(() => lines().includes("let go"), "the stream is let go of");
    expect((await handle.waitForCompletion()).status).toBe("cancelled");
  });

  it("that takes longer than its step may is EFFECT_TIMED_OUT, and let go of", async () => {
    const app = openApp(actors);
    const { file, lines } = markFile();
    const failure = await failureOf(app, "dump", { file, pieces: 1e9, ms: 1 }, { timeoutMs: 200 });
    expect(failure).toMatchObject({ code: "EFFECT_TIMED_OUT" });
    await until(() => lines().includes("let go"), "the stream is let go of");
  });

  it("whose digest throws is DIGEST_FAILED, and one of objects is refused", async () => {
    const app = openApp(actors);
    expect(await failureOf(app, "badDigest", { pieces: 3 })).toMatchObject({ code: "DIGEST_FAILED" });
    expect(await failureOf(app, "objects", {})).toMatchObject({ code: "VALUE_NOT_RECORDABLE" });
  });

  it("is what a stream has to be returned as: a bare one is refused, and destroyed", async () => {
    const app = openApp(actors);
    const { file, lines } = markFile();
    expect(await failureOf(app, "bare", { file })).toMatchObject({
      code: "VALUE_NOT_RECORDABLE",
      message: expect.stringContaining("streamResult") as string,
    });
    await until(() => lines().includes("closed"), "the stream is destroyed");
  });

  it("leaves nothing in the store when it was cut short", async () => {
    const dir = temporaryDirectory();
    const app = openApp(actors, { claimCheck }, dir);
    await failureOf(app, "breaks", { pieces: 40, breakAt: 20 });
    await failureOf(app, "dies", { pieces: 40, breakAt: 20 });
    await app.close();
    // Before the next opening, which would clear away what was left half stored.
    for (let partition = 0; partition < Math.max(1, actors); partition++)
      expect(await contentRows(dir, partition)).toEqual({});
    // In the host's thread: one that only reads sweeps nothing.
    const again = defineConfig({ storage: lmdbStorage({ dir, sync: "commit" }), flows: [single, pair] });
    onTestFinished(() => again.close({ deadlineMs: 0 }));
    await again.start();
    expect(await again.stores.contentStore.sweep({ olderThanMs: 0 })).toEqual({ removed: 0, bytes: 0 });
  });
});

it("a stream that loses thread after thread to other calls gets one to itself, and is charged nothing", async () => {
  const app = openApp(0);
  const { file, lines } = markFile();
  const begun = (): number => lines().filter((line) => line.startsWith("begin")).length;
  const dump = await start(app, "dump", { file, pieces: 100, ms: 10 });
  for (let loss = 1; loss <= 6; loss++) {
    // The fourth time it is alone in its thread, and they wait.
    if (loss <= 4)
      await until(() => begun() === loss && lines().at(-1) === "piece", `the stream for the ${loss}th time`);
    await app.runtime.start(single, { toolId: "exits", input: { file, done: `${file}-${loss}` } });
  }
  expect(await within(dump.result(), "the stream")).toMatchObject({ result: { size: 10_000_000 } });
  expect(lines().filter((line) => line.startsWith("begin"))).toEqual(Array(4).fill("begin 1"));
});

describe.each([
  ["in the host's thread", 0],
  ["in two partition threads", 2],
])("a large value to and from the pool, its execution %s", (_where, actors) => {
  it("is put away though no packet could carry it", async () => {
    const app = openApp(actors);
    const envelope = await resultOf(app, "list", { items: 900_000 });
    expect(envelope).toMatchObject({ digest: { truncated: true } });
    const list = await resolveClaimCheck<readonly string[]>(app.stores.contentStore, envelope);
    expect(list).toHaveLength(900_000);
    expect(list?.at(-1)).toBe("item number 899999");
  });
});

describe("without a claim check", () => {
  it("a streamResult and a result larger than a packet are refused typed, and let go of", async () => {
    const app = openApp(0, {});
    const { file, lines } = markFile();
    expect(await failureOf(app, "dump", { file, pieces: 1e9 })).toMatchObject({
      code: "VALUE_NOT_RECORDABLE",
      message: expect.stringContaining("claimCheck") as string,
    });
    await until(() => lines().includes("let go"), "the stream is let go of");
    expect(await failureOf(app, "list", { items: 900_000 })).toMatchObject({ code: "VALUE_TOO_LARGE" });
  });
});

describe("C-EFF-05: a large Buffer to and from the pool", () => {
  const document = Buffer.from(Array.from({ length: 20_000_000 }, (_, n) => n & 0xff));

  it.each([
    ["by itself", (envelope: object) => envelope],
    ["as a property", (envelope: object) => ({ document: envelope, page: 1 })],
  ])("crosses as it is, %s", async (_what, inputOf) => {
    const app = openApp(0);
    await app.start();
    const { ref, size } = await app.stores.contentStore.put(document);
    const output = await resultOf(
      app,
      "reverse",
      inputOf({ __loomClaimCheck: true, ref, size, codec: "bytes" }),
    );
    expect(output).toMatchObject({ size, codec: "bytes" });
    const back = await resolveClaimCheck<Buffer>(app.stores.contentStore, output);
    expect(
      Buffer.from(document)
        .reverse()
        .equals(back ?? Buffer.of()),
    ).toBe(true);
  });
});

describe("claim checks with partition threads", () => {
  const withThreads = (options: Partial<HeddleConfig>, module: URL | string = MODULE): HeddleApp => {
    const app = defineConfig({
      storage: lmdbStorage({ dir: temporaryDirectory(), sync: "commit" }),
      workers: { actors: 1, app: module },
      autostart: false,
      ...options,
    });
    onTestFinished(() => app.close({ deadlineMs: 0 }));
    return app;
  };

  it("are an export of the module: the option is refused, and says where it belongs", () => {
    expect(() => withThreads({ execution: { claimCheck: { toolIds: [] } } })).toThrow(
      expect.objectContaining({
        code: "CONFIG_INVALID",
        message: expect.stringContaining("Export claimCheck from the module") as string,
        details: { option: "execution.claimCheck" },
      }),
    );
  });

  it("that are exported wrong fail the opening, naming the module", async () => {
    const app = withThreads({}, "data:text/javascript,export const claimCheck = { toolIds: 1 }");
    expect(await errorOf(app.start())).toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining("its export claimCheck.toolIds must be a list") as string,
    });
  });

  it("leave the host to read: what it would put is refused typed", async () => {
    const app = openApp(2);
    await app.start();
    await expect(app.stores.contentStore.put("x")).rejects.toMatchObject({ code: "STORAGE_FAILED" });
    expect(await app.stores.contentStore.get(`sha256:${"0".repeat(64)}`)).toBeNull();
  });
});
