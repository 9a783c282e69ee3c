// What is run for the test of canaries: a canary in every place where a user could put a secret. MARKS=off takes the marks away,
// and nothing else, so that the search can be seen to find something.

import { existsSync, writeFileSync } from "node:fs";
import {
  defineFlow,
  fail,
  flow$,
  handler$,
  isSecretText,
  secretRef,
  sensitive,
  step$,
  ToolEffect,
  tool$,
} from "heddle";
import { z } from "zod";

const TOKEN = process.env.CANARY;
const LATE = process.env.LATE;
export const canary = (place) => `${TOKEN}.${place}`;
const secret = (schema) => (process.env.MARKS === "off" ? schema : sensitive(schema));

export const secrets = { resolver: (name) => canary(`resolved.${name}`) };
export const claimCheck = { toolIds: ["large", "largeEcho"], inlineCapBytes: 4_096 };

const Card = z.object({ owner: z.string(), pins: z.array(z.object({ pin: secret(z.string()) })) });
const Order = z.object({ card: Card, tags: z.record(z.string(), secret(z.string())) });
const Payment = z.object({ card: Card, key: z.custom(isSecretText), header: z.string() });
const Receipt = z.object({ receipt: z.string(), token: secret(z.string()), echo: z.unknown() });
const filler = "x".repeat(20_000);

const bodies = {
  /** Emits, and then fails once with the secrets in every part of an error. */
  pay({ card, key, header }, ctx) {
    const [{ pin }] = card.pins;
    ctx.emit("Paying", { pin, key, nested: [{ url: `https://x/?pin=${pin}&key=${key}` }] });
    ctx.emit("delta", `a piece of a stream: ${pin}`);
    if (ctx.attempt === 1) {
      const cause = Object.assign(new TypeError(`inner ${pin} ${key}`), { code: `E_${pin}` });
      throw Object.assign(new Error(`refused: ${pin} ${header} ${key}`, { cause }), {
        response: { headers: { authorization: `Basic ${Buffer.from(`ann:${pin}`).toString("base64")}` } },
        hex: Buffer.from(pin).toString("hex"),
        raw: Buffer.from(`<${pin}>`),
        errors: [new Error(pin)],
        [pin]: key,
      });
    }
    const isTrue = pin === canary("input") && header === `Bearer ${canary("input")}`;
    return {
      receipt: `attempt ${ctx.attempt}: ${isTrue}`,
      token: canary("result"),
      echo: { pin, base64: Buffer.from(`..${pin}`).toString("base64"), map: new Map([[pin, 1]]), key },
    };
  },
  large: () => ({ body: filler + canary("large") + filler, n: 1 }),
  largeEcho: ({ pin }) => ({ body: filler + pin + filler }),
  refuse: ({ pin }) => fail("refused", { pin, other: canary("channel") }),
  /** Is cut off the first time, whoever runs it. */
  async late({ pin }) {
    if (existsSync(LATE)) return pin === canary("input");
    writeFileSync(LATE, "");
    await new Promise(() => setInterval(() => {}, 1_000));
  },
};
const refused = z.object({ pin: z.string(), other: secret(z.string()) });

export const effects = Object.fromEntries(
  Object.entries(bodies).map(([id, body]) => [
    id,
    new ToolEffect(body, id === "refuse" ? { errors: { refused } } : {}),
  ]),
);
export const registerEffects = (runtime) => {
  if (process.env.POOL === "yes") return;
  for (const [id, effect] of Object.entries(effects)) runtime.register(id, effect);
};

const retry = { maxAttempts: 3, baseDelayMs: 1 };
const pay = tool$({
  id: "pay",
  description: "As its name says",
  inputSchema: Payment,
  outputSchema: Receipt,
  retry,
});
const Pin = z.object({ pin: secret(z.string()) });
const any = z.unknown();
const large = step$({ id: "large", inputSchema: any, outputSchema: secret(z.unknown()) });
const largeEcho = step$({ id: "largeEcho", inputSchema: Pin, outputSchema: any });
const refuse = step$({ id: "refuse", inputSchema: Pin, outputSchema: any, errors: { refused } });
const late = step$({ id: "late", inputSchema: Pin, outputSchema: any });
const inline = step$({
  id: "inline",
  inputSchema: Pin,
  outputSchema: any,
  handler: handler$(({ pin }, ctx) => {
    ctx.emit("Inline", { pin });
    return { pin };
  }),
});

export const order = defineFlow(
  flow$({
    id: "order",
    version: "1",
    inputSchema: Order,
    outputSchema: z.object({
      receipt: z.string(),
      isTrue: z.boolean(),
      pin: secret(z.string()),
      all: z.unknown(),
    }),
    resumeSchemas: { code: z.object({ code: secret(z.string()) }) },
  }),
  async (ctx, { card, tags }) => {
    const [{ pin }] = card.pins;
    ctx.emit("Ordered", { pin, tags });
    ctx.stream("words", `the pin is ${pin}`);
    ctx.ui.set("form", { pin });
    const { receipt, token, echo } = await ctx.execute(pay, {
      card,
      key: secretRef("stripe"),
      header: `Bearer ${pin}`,
    });
    await ctx.run(large, null);
    await ctx.run(largeEcho, { pin });
    const channel = await ctx.run(refuse, { pin }).catch((error) => error.payload);
    const choice = await ctx.decide("choice", () => ({ pin, token }), { rationale: `because of ${pin}` });
    const lateIsTrue = await ctx.run(late, { pin });
    const { code } = await ctx.suspend({ on: "code" });
    const given = await ctx.run(inline, { pin });
    const isTrue =
      lateIsTrue &&
      token === canary("result") &&
      code === canary("gate") &&
      choice.pin === canary("input") &&
      channel.other === canary("channel") &&
      given.pin === pin &&
      tags.b === canary("tag");
    return { receipt, isTrue, pin, all: { echo, channel, code } };
  },
);

export const breaks = defineFlow(
  flow$({ id: "breaks", version: "1", inputSchema: Pin, outputSchema: z.unknown() }),
  async (_ctx, { pin }) => {
    throw Object.assign(new Error(`the flow broke on ${pin}`, { cause: { pin } }), { pin });
  },
);
