// Where a user could put a secret: any place that a flow or a step writes to, in a value of any shape and in any form. What is
// stored is searched, byte by byte.

import fc from "fast-check";
import { expect, it } from "vitest";
import { z } from "zod";
import { packRecord } from "../../src/kernel/codec/index.js";
import {
  defineFlow,
  type ExecutionContext,
  flow$,
  handler$,
  type StepHandlerContext,
  sensitive,
  step$,
  TypedFailure,
  Vault,
} from "../../src/kernel/index.js";
import { recordToWire } from "../../src/kernel/store/record.js";
import { World } from "../support/world.js";
import { formsOf } from "./forms.js";

const vault = new Vault({ current: "k", keys: { k: new Uint8Array(32).fill(5) } });
const CANARY = "cAnArY-0f9d";
const KNOWN = formsOf(CANARY);

type Form = (secret: string) => string;
const forms = fc.constantFrom<Form>(
  (secret) => secret,
  (secret) => `Bearer ${secret}!`,
  (secret) => Buffer.from(secret).toString("hex"),
  (secret) => Buffer.from(`u:${secret}`).toString("base64"),
  (secret) => JSON.stringify({ secret }),
  (secret) => `https://x/?k=${encodeURIComponent(secret)}`,
);
type Shape = (text: string) => unknown;
const shapes = fc.letrec<{ any: Shape }>((tie) => ({
  any: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom<Shape[]>(
      (text) => text,
      (text) => ({ [text]: 1 }),
      (text) => Buffer.from(text),
      (text) => new Error(`about ${text}`),
      (text) => Object.assign(new RangeError("x", { cause: text }), { headers: { authorization: text } }),
    ),
    tie("any").map(
      (inner): Shape =>
        (text) => ({ inner: inner(text), n: 1 }),
    ),
    tie("any").map(
      (inner): Shape =>
        (text) => [inner(text), inner(text)],
    ),
    tie("any").map(
      (inner): Shape =>
        (text) =>
          new Map([["k", inner(text)]]),
    ),
    tie("any").map(
      (inner): Shape =>
        (text) => {
          const twice = inner(text);
          return { twice, again: twice };
        },
    ),
  ),
})).any;

interface Place {
  readonly flow?: (ctx: ExecutionContext, make: () => unknown) => unknown;
  readonly step?: (make: () => unknown, ctx: StepHandlerContext) => unknown;
}
const thrown = (value: unknown): never => {
  throw value;
};
const places: readonly (readonly [string, Place])[] = [
  ["emitted by the flow", { flow: (ctx, make) => ctx.emit("Said", make()) }],
  ["streamed", { flow: (ctx, make) => ctx.stream("words", String(make())) }],
  ["on a surface", { flow: (ctx, make) => ctx.ui.set("form", make()) }],
  ["decided", { flow: (ctx, make) => ctx.decide("d", () => make(), { rationale: make() }) }],
  ["thrown by a decider", { flow: (ctx, make) => ctx.decide("d", () => thrown(make())) }],
  ["returned by the flow", { flow: (_ctx, make) => make() }],
  ["thrown by the flow", { flow: (_ctx, make) => thrown(make()) }],
  ["returned by a step", { step: (make) => make() }],
  ["thrown by a step", { step: (make) => thrown(make()) }],
  ["failed with on a channel", { step: (make) => thrown(new TypedFailure("told", make())) }],
  ["failed with on no channel", { step: (make) => thrown(new TypedFailure("untold", make())) }],
  ["emitted by a step", { step: (make, ctx) => ctx.emit("Said", make()) }],
];

it("what is stored holds no marked value, wherever it is put and in whatever shape (property)", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...places),
      forms,
      shapes,
      fc.constantFrom(0, 10_000),
      async ([, place], form, shape, maxResident) => {
        const world = World.memory();
        const step = step$({
          id: "step",
          inputSchema: z.unknown(),
          outputSchema: z.unknown(),
          errors: { told: z.unknown() },
          retry: { maxAttempts: 2, baseDelayMs: 1 },
          handler: handler$((secret: unknown, ctx) => place.step?.(() => shape(form(String(secret))), ctx)),
        });
        const flow = defineFlow(
          flow$({
            id: "f",
            version: "1",
            inputSchema: sensitive(z.string()),
            outputSchema: z.unknown(),
          }),
          async (ctx, secret) => {
            if (place.step) return ctx.run(step, secret);
            return place.flow?.(ctx, () => shape(form(secret)));
          },
        );
        const process = await world.open([flow], { vault, maxResident });
        await process.start(flow, CANARY);
        await process.finish("x");
        await process.kill();
        const bytes = Buffer.concat(
          (await world.records()).map((record) => packRecord(recordToWire(record))),
        ).toString("latin1");
        for (const known of KNOWN) expect(bytes).not.toContain(known);
      },
    ),
    { numRuns: 250 },
  );
}, 120_000);
