// What the threads of the test of references load: effects that use a credential, and are careless with it.

import { setTimeout as delay } from "node:timers/promises";
import { defineFlow, fail, flow$, isSecretText, sensitive, step$, streamResult, ToolEffect } from "heddle";
import { z } from "zod";

/** Each lookup is a new secret, as where credentials are short-lived. */
let lookups = 0;
export const secrets = {
  resolver: async (name, ctx) => {
    if (name === "broken") throw new Error("vault said: hunter2-broken");
    if (name === "absent") return undefined;
    return `resolved-${name}-${ctx.stepId}-${++lookups}`;
  },
};

const key = sensitive(z.custom(isSecretText));

export const effects = {
  /** Gives away whether it got the text, in a form that is not searched for. */
  spell: new ToolEffect(({ key }) => (typeof key === "string" ? key.split("").reverse().join("") : key)),
  leak: new ToolEffect(({ key, nested }, ctx) => {
    ctx.emit("used", { header: `Bearer ${key}`, basic: Buffer.from(`ann:${key}`).toString("base64") });
    return {
      plain: key,
      nested,
      url: `https://x/?k=${encodeURIComponent(key)}`,
      bytes: Buffer.from(key),
      [`by ${key}`]: new Map([[key, new Set([key])]]),
    };
  }),
  throws: new ToolEffect(({ key }) => {
    const cause = Object.assign(new TypeError(`inner ${key}`), { code: `E-${key}` });
    throw Object.assign(new RangeError(`no luck with ${key}`, { cause }), {
      retryable: false,
      config: { headers: { authorization: `Basic ${Buffer.from(key).toString("base64")}` } },
    });
  }),
  throttled: new ToolEffect(({ key }) => {
    const headers = new Headers({ "retry-after-ms": "1500", "x-key": key });
    throw Object.assign(new Error(`slow down, ${key}`), { response: { headers } });
  }),
  refuses: new ToolEffect(({ key }) => fail("refused", { key }), { errors: { refused: z.unknown() } }),
  /** Nobody can record it, and whoever says why names its parts. */
  unrecordable: new ToolEffect(({ key }) => ({ [key]: () => key })),
  /** Has something to say after it has returned. */
  streams: new ToolEffect(({ key, says }) => {
    const gives = async function* () {
      yield "x".repeat(100_000);
      if (says === "failure")
        throw Object.assign(new RangeError(`cut off ${key}`), { retryable: false, key });
    };
    const digest = {
      digest: { url: `https://x/?k=${key}` },
      late: async () => ({ key }),
      broken: () => {
        throw new Error(`lost count of ${key}`);
      },
      odd: { [key]: () => key },
    }[says];
    return streamResult(gives(), { digest, contentType: `text/plain; k=${key}` });
  }),
  /** In the same thread when somebody else takes it down, and nobody knows whether it did its work. */
  waits: new ToolEffect(() => delay(60_000), { idempotent: false }),
  /** The same while it streams, once another lookup has given another secret. */
  crashesStreaming: new ToolEffect(({ key }) => {
    const lookupsThen = lookups;
    const gives = async function* () {
      yield "x";
      while (lookups === lookupsThen) await delay(1);
      await delay(5);
      setImmediate(() => {
        throw new Error(`crashed with ${key}`);
      });
      await delay(60_000);
    };
    return streamResult(gives());
  }),
  /** Takes its thread down, with the secret in its last words. */
  crashes: new ToolEffect(async ({ key }) => {
    setImmediate(() => {
      throw Object.assign(new Error(`crashed with ${key}`), { key });
    });
    await delay(60_000);
  }),
};

export const claimCheck = { toolIds: [] };

export const registerEffects = (runtime) => {
  for (const [id, effect] of Object.entries(effects)) runtime.register(`inline.${id}`, effect);
};

/** Runs one effect with a reference, and gives what came of it. */
export const uses = defineFlow(
  flow$({
    id: "uses",
    version: "1",
    inputSchema: z.looseObject({ input: z.looseObject({ key }) }),
    outputSchema: z.unknown(),
  }),
  async (ctx, { toolId, input, retry }) => {
    const inputSchema = z.looseObject({ key });
    const step = step$({ id: "step", toolId, inputSchema, outputSchema: z.unknown(), retry });
    try {
      return { output: await ctx.run(step, input) };
    } catch (error) {
      return { error, name: error.name };
    }
  },
);
