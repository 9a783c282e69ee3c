// Secret references: the log has the name, the effect gets the secret, in whatever thread it runs, and nothing of it comes out.

import { inspect } from "node:util";
import {
  type ClaimCheckConfig,
  defineConfig,
  type HeddleApp,
  type HeddleConfig,
  lmdbStorage,
  type RegisteredFlow,
  redactionMiddleware,
  secretRef,
  ToolEffect,
  tainted,
} from "heddle";
import { describe, expect, it, onTestFinished } from "vitest";
import { errorOf, temporaryDirectory, within } from "../workers/partitions/world.js";
import { formsOf } from "./forms.js";
import * as programs from "./programs/credentials.mjs";

const MODULE = new URL("./programs/credentials.mjs", import.meta.url);
const { uses, secrets, registerEffects, claimCheck } = programs as unknown as {
  readonly uses: RegisteredFlow;
  readonly secrets: NonNullable<NonNullable<HeddleConfig["security"]>["secrets"]>;
  readonly registerEffects: NonNullable<NonNullable<HeddleConfig["execution"]>["registerEffects"]>;
  readonly claimCheck: ClaimCheckConfig;
};
const pool = { module: MODULE, maxThreads: 1 };

const PLACES: readonly [string, string, Partial<HeddleConfig>][] = [
  ["in the host's thread", "inline.", { security: { secrets }, execution: { registerEffects, claimCheck } }],
  ["in a pool thread", "", { workers: { effects: pool }, execution: { claimCheck } }],
  ["in a partition thread", "inline.", { workers: { actors: 1, app: MODULE } }],
  ["in the pool of a partition thread", "", { workers: { actors: 1, app: MODULE, effects: pool } }],
];

function open(config: Partial<HeddleConfig>): HeddleApp {
  const app = defineConfig({
    storage: lmdbStorage({ dir: temporaryDirectory(), sync: "commit" }),
    flows: [uses],
    ...config,
  });
  onTestFinished(() => app.close({ deadlineMs: 0 }));
  return app;
}

describe.each(PLACES)("a secretRef of an effect %s", (_place, prefix, config) => {
  const run = async (effect: string, input: object, options: object = {}): Promise<unknown> => {
    const app = open(config);
    const handle = await app.runtime.start(
      uses,
      { toolId: prefix + effect, input: { key: secretRef("stripe"), ...input }, ...options },
      { executionId: "x" },
    );
    const result = await within(handle.result(), effect);
    const state = await handle.waitForCompletion();
    const shown = inspect([result, state, await app.stores.eventStore.read("x")], {
      depth: 30,
      showHidden: true,
      maxStringLength: null,
    });
    for (const form of formsOf("resolved-stripe")) expect(shown).not.toContain(form);
    expect(shown).toContain("__heddleSecret"); // the log has the name
    return result;
  };

  it("is the secret to the effect, and a name to everybody else", async () => {
    expect(await run("spell", {})).toMatchObject({
      output: expect.stringMatching(/^\d+-pets-epirts-devloser$/) as unknown,
    });
  });

  it("does not come out in results or events, whatever they are made of", async () => {
    const result = await run("leak", { nested: [{ key: secretRef("stripe") }] });
    expect(result).toEqual({
      output: {
        plain: "[secret]",
        nested: [{ key: "[secret]" }],
        url: "https://x/?k=[secret]",
        bytes: expect.any(Buffer) as unknown,
        "by [secret]": new Map([["[secret]", new Set(["[secret]"])]]),
      },
    });
  });

  it("does not come out in errors, which stay what they were otherwise", async () => {
    const result = await run("throws", {}, { retry: { maxAttempts: 3, baseDelayMs: 1 } });
    expect(result).toMatchObject({
      name: "RangeError",
      error: {
        message: "no luck with [secret]",
        retryable: false,
        cause: { message: "inner [secret]", code: "E-[secret]" },
        config: { headers: { authorization: expect.stringContaining("[secret]") as unknown } },
      },
    });
  });

  it("does not come out with what an error says of retries, which is kept", async () => {
    expect(await run("throttled", {})).toMatchObject({
      error: { message: "slow down, [secret]", retryAfterMs: 1_500 },
    });
  });

  it("does not come out in the words for a result that cannot be recorded", async () => {
    expect(await run("unrecordable", {})).toMatchObject({
      error: { code: "VALUE_NOT_RECORDABLE", message: expect.stringContaining("[secret]") as unknown },
    });
  });

  it("does not come out of a failure channel", async () => {
    expect(await run("refuses", {})).toMatchObject({
      name: "TypedFailure",
      error: { channel: "refused", payload: { key: "[secret]" } },
    });
  });

  it("does not come out with what a stream fails with or says of itself, after its effect has returned", async () => {
    const contentType = "text/plain; k=[secret]";
    for (const [says, result] of [
      ["failure", { name: "RangeError", error: { message: "cut off [secret]", key: "[secret]" } }],
      ["digest", { output: { digest: { url: "https://x/?k=[secret]" }, contentType } }],
      ["late", { output: { digest: { key: "[secret]" }, contentType } }],
      ["broken", { error: { code: "DIGEST_FAILED", cause: { message: "lost count of [secret]" } } }],
      ["odd", { error: { code: "DIGEST_FAILED" } }],
    ] as const)
      expect(await run("streams", { says })).toMatchObject(result);
  });

  it("that cannot be resolved keeps the effect from running, and says nothing of what the resolver said", async () => {
    for (const name of ["broken", "absent"]) {
      const result = await run("spell", { key: secretRef(name) });
      expect(result).toMatchObject({ error: { code: "SECRET_UNRESOLVED", details: { name } } });
      expect(inspect(result, { depth: 9 })).not.toContain("hunter2");
    }
  });

  it("inside tainted content is not resolved", async () => {
    const nested = tainted({ key: secretRef("stripe") }, "web");
    expect(await run("leak", { nested })).toMatchObject({ output: { nested } });
  });
});

describe("a thread that dies of an error with a secret in it", () => {
  const sealingKey = new Uint8Array(32).fill(9);
  const PIN = "marked-pin-4711";

  it.each(PLACES.filter(([, prefix]) => prefix === ""))(
    "tells of it without the secret, also whoever was beside it: %s",
    async (_place, _prefix, config) => {
      const warnings: string[] = [];
      const app = open({
        ...config,
        security: { sealingKey },
        observability: { onWarn: (message) => warnings.push(message) },
      });
      const { runtime } = app;
      for (const [key, kind] of [
        [secretRef("stripe"), "secret"],
        [PIN, "sensitive"],
      ] as const) {
        const beside = await runtime.start(
          uses,
          { toolId: "waits", input: { key: "" } },
          { executionId: `beside ${kind}` },
        );
        const crash = { toolId: "crashes", input: { key } };
        const handle = await runtime.start(uses, crash, { executionId: `crash ${kind}` });
        const told = [await within(handle.result(), "crash"), await within(beside.waitForSuspend(), "doubt")];
        const { eventStore } = app.stores;
        const logs = [await eventStore.read(handle.executionId), await eventStore.read(beside.executionId)];
        const shown = inspect([told, warnings, logs], { depth: 30 });
        expect(inspect(logs[1], { depth: 30 })).toContain(`crashed with [${kind}]`);
        expect(shown).not.toContain("resolved-stripe");
        expect(shown).not.toContain(PIN);
      }
    },
  );

  it.each(PLACES.filter(([, prefix]) => prefix === ""))(
    "tells of it without the secret, also when it is not the latest any more: %s",
    async (_place, _prefix, config) => {
      const app = open(config);
      const start = (toolId: string) =>
        app.runtime.start(uses, { toolId, input: { key: secretRef("stripe") } }, { executionId: toolId });
      const handle = await start("crashesStreaming");
      await within((await start("spell")).result(), "the other lookup");
      const result = await within(handle.result(), "the thread that died");
      const shown = inspect([result, await app.stores.eventStore.read("crashesStreaming")], { depth: 30 });
      expect(shown).toContain("crashed with [secret]");
      expect(shown).not.toContain("resolved-stripe");
    },
  );

  it("tells of it without the secret: a partition thread", async () => {
    for (const [key, kind] of [
      [secretRef("stripe"), "secret"],
      [PIN, "sensitive"],
    ] as const) {
      const warnings: string[] = [];
      const app = open({
        workers: { actors: 1, app: MODULE },
        security: { sealingKey },
        observability: { onWarn: (message) => warnings.push(message) },
      });
      const input = { toolId: "inline.crashes", input: { key } };
      const handle = await app.runtime.start(uses, input);
      const error = await within(errorOf(handle.result()), "the thread that died", 30_000);
      const shown = inspect([error, warnings, await app.runtime.list()], { depth: 30 });
      expect(shown).toContain(`crashed with [${kind}]`);
      expect(shown).not.toContain("resolved-stripe");
      expect(shown).not.toContain(PIN);
      await app.close({ deadlineMs: 0 });
    }
  });
});

describe("redactionMiddleware", () => {
  it("does the same where it is put, and for ambient calls", async () => {
    let count = 0;
    const app = open({
      execution: {
        registerEffects: (effects) =>
          effects.register(
            "ask",
            new ToolEffect(({ key }: { key: string }) => {
              count += 1;
              if (count === 2) throw new Error(`not with ${key}`);
              return `asked with ${key}`;
            }),
          ),
        effectMiddleware: [redactionMiddleware({ resolver: (name) => `the-secret-${name}` })],
      },
    });
    const ask = (): Promise<unknown> => app.effectRuntime.invokeTransient("ask", { key: secretRef("a") });
    expect(await ask()).toBe("asked with [secret]");
    expect((await errorOf(ask())).message).toBe("not with [secret]");
    const clean = { key: "no reference" };
    expect(await app.effectRuntime.invokeTransient("ask", clean)).toBe("asked with no reference");
  });

  it("needs a resolver", () => {
    for (const options of [{}, undefined])
      expect(() => redactionMiddleware(options as never)).toThrow(
        expect.objectContaining({ code: "CONFIG_INVALID", details: { option: "resolver" } }),
      );
  });
});

function refuses(security: object, message: RegExp): void {
  const build = (): unknown => defineConfig({ storage: { kind: "memory" }, security, autostart: false });
  expect(build).toThrow(
    expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringMatching(message) as unknown }),
  );
}

describe("security.secrets", () => {
  it.each<[string, unknown, RegExp]>([
    ["no object", "key", /security\.secrets must be an object/],
    ["an unknown option", { key: 1 }, /security\.secrets\.key is no option/],
    ["a resolver that is none", { resolver: {} }, /resolver must be a function/],
  ])("%s is refused, with what to do", (_what, bad, message) => refuses({ secrets: bad }, message));

  it("does not cross into partition threads, and the message says what does", () => {
    const build = (): unknown => open({ security: { secrets }, workers: { actors: 1, app: MODULE } });
    expect(build).toThrow(/security\.secrets.*Export secrets from the module/);
  });
});

describe("security.sealingKey", () => {
  it.each<[string, unknown, RegExp]>([
    ["a short key", new Uint8Array(16), /not 32 bytes.*randomBytes\(32\)/],
    ["a key as text", "k".repeat(32), /must be 32 random bytes/],
    [
      "a ring without its current key",
      { current: "b", keys: { a: new Uint8Array(32) } },
      /current must be the id.*a/,
    ],
    ["a ring with a bad key", { current: "a", keys: { a: new Uint8Array(32), b: [1] } }, /\(b\)/],
  ])("%s is refused, with what to do", (_what, bad, message) => refuses({ sealingKey: bad }, message));

  it.each<[string, Partial<HeddleConfig>]>([
    ["in the host's thread", { execution: { registerEffects } }],
    ["in a partition thread", { workers: { actors: 1, app: MODULE } }],
  ])("is copied: wiping it afterwards wipes nothing here, %s", async (_place, config) => {
    const storage = lmdbStorage({ dir: temporaryDirectory(), sync: "commit" });
    const sealingKey = new Uint8Array(32).fill(7);
    const first = open({ storage, security: { sealingKey }, ...config });
    sealingKey.fill(0);
    const input = { toolId: "inline.leak", input: { key: "typed-key-4711" } };
    const handle = await first.runtime.start(uses, input, { executionId: "x" });
    const result = await within(handle.result(), "result");
    await first.close();
    const later = open({ storage, security: { sealingKey: new Uint8Array(32).fill(7) } });
    expect(await within(later.runtime.handle("x").result(), "the same")).toEqual(result);
    await later.close();
  });
});
