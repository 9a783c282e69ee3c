// Goal: simulate finds in a user's flow what a crash would find in production, in less than two seconds, and nothing in a sound one.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { defineFlow, type ExecutionContext, flow$, handler$, step$ } from "../../src/kernel/index.js";
import { assertDeterministic, type FailureKind, simulate, witness } from "../../src/testing/index.js";

const order = z.object({ id: z.string(), cents: z.number() });
type Order = z.infer<typeof order>;
const input: Order = { id: "o-1", cents: 250 };

/** What the world outside has come to. A payment with a key it knows is the same payment. */
const payments = new Map<string, number>();
const mails: string[] = [];
const charge = (cents: number, key: string): void => void payments.set(key, cents);
const send = witness("send", (to: string): void => void mails.push(to));
const reset = (): void => {
  payments.clear();
  mails.length = 0;
};

const payStep = (keyOf: (ctx: { readonly idempotencyKey: string }) => string) =>
  step$({
    id: "pay",
    inputSchema: z.number(),
    outputSchema: z.number(),
    handler: handler$(async (cents: number, ctx) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      charge(cents, keyOf(ctx));
      return cents;
    }),
  });
const pay = payStep(({ idempotencyKey }) => idempotencyKey);

const mail = step$({
  id: "mail",
  inputSchema: z.string(),
  outputSchema: z.null(),
  idempotent: true,
  handler: handler$((to: string) => {
    send(to);
    return null;
  }),
});

const checkout = (run: (ctx: ExecutionContext, order: Order) => Promise<unknown>) =>
  defineFlow(flow$({ id: "checkout", version: "1", inputSchema: order, outputSchema: z.unknown() }), run);

const sound = checkout(async (ctx, { id, cents }) => {
  const paid = await ctx.run(pay, cents);
  const approved = await ctx.suspend({ on: "approve" });
  await ctx.run(mail, id);
  return { paid, approved };
});
const answers = { approve: { by: "ada" } };

const effectOutside = checkout(async (ctx, { id, cents }) => {
  const paid = await ctx.run(pay, cents);
  send(id); // belongs into a step
  return { paid };
});

const raceOnWallTime = checkout(async (ctx, { cents }) => {
  const begun = ctx.now();
  const paid = await ctx.run(pay, cents);
  if (Date.now() - begun > 400) await ctx.run(mail, "it takes longer"); // belongs to ctx.now()
  const approved = await ctx.suspend({ on: "approve" });
  return { paid, approved };
});

const timerInTheFlow = checkout(async (ctx, { cents }) => {
  const late = new Promise((resolve) => setTimeout(resolve, 10, "late")); // belongs to ctx.sleep()
  const first = await Promise.race([ctx.run(pay, cents), late]);
  if (first === "late") await ctx.run(mail, "it takes longer");
  return first;
});

const withoutKey = checkout((ctx, { cents }) =>
  ctx.run(
    payStep(() => `${payments.size}`),
    cents,
  ),
);

const stuck = checkout(async (ctx) => ctx.suspend({ on: "nobody" }));

const BUGS: readonly { what: string; flow: typeof sound; kinds: readonly FailureKind[] }[] = [
  { what: "an effect outside of a step", flow: effectOutside, kinds: ["effectOutsideStep"] },
  { what: "a branch on the clock on the wall", flow: raceOnWallTime, kinds: ["result", "divergence"] },
  {
    what: "a race with a timer of the flow's own",
    flow: timerInTheFlow,
    kinds: ["result", "divergence", "stall"],
  },
  { what: "a payment without its idempotency key", flow: withoutKey, kinds: ["doubledEffect"] },
  { what: "a gate that nobody answers", flow: stuck, kinds: ["stall"] },
];

describe("simulate", () => {
  test("finds nothing in a sound flow, and pays once in each schedule", async () => {
    const paid = new Set<number>();
    const counted = (): void => {
      if (payments.size > 0) paid.add(payments.size);
      reset();
    };
    const report = await simulate(sound, { input, answers, reset: counted });
    expect(report).toEqual({ schedules: 200, failure: undefined });
    expect([...paid]).toEqual([1]);
  });

  test.each(BUGS)("finds $what in less than two seconds", async ({ flow, kinds }) => {
    const before = process.cpuUsage();
    const { failure } = await simulate(flow, { input, answers, reset });
    const { user, system } = process.cpuUsage(before);
    expect(kinds).toContain(failure?.kind);
    expect((user + system) / 1_000).toBeLessThan(2_000);
    expect(failure?.timeline).toContain("EXECUTION_STARTED");
  });

  test("a report says how to see its schedule again", async () => {
    const { failure } = await simulate(withoutKey, { input, reset });
    const again = await simulate(withoutKey, { input, reset, firstSeed: failure!.seed, seeds: 1 });
    expect(again.failure).toEqual(failure);
  });

  test("effects are replaced by the id of their step", async () => {
    const seen: number[] = [];
    const effects = { pay: (cents: number) => seen.push(cents) && 7, mail: () => null };
    const { failure } = await simulate(sound, { input, answers, effects, faults: [], seeds: 1 });
    expect(failure).toBeUndefined();
    expect(seen).toEqual([250, 250]);
    expect(payments.size).toBe(0);
  });

  test("effects that wait for the host are waited for, and time does not pass meanwhile", async () => {
    const { setImmediate: turn } = await import("node:timers/promises");
    const effects = {
      pay: async (cents: number, ctx: { readonly idempotencyKey: string }) => {
        for (let i = 0; i < 20; i++) await turn();
        charge(cents, ctx.idempotencyKey);
        return cents;
      },
    };
    expect(await simulate(sound, { input, answers, effects, reset, seeds: 30 })).toMatchObject({
      failure: undefined,
    });
  });

  test("two at once take turns, and the host has its clock back afterwards", async () => {
    const [RealDate, realTimeout] = [Date, setTimeout];
    const reports = await Promise.all([1, 2].map(() => simulate(sound, { input, answers, reset, seeds: 5 })));
    expect(reports.map(({ failure }) => failure)).toEqual([undefined, undefined]);
    expect([Date, setTimeout]).toEqual([RealDate, realTimeout]);
  });

  test.each([{ seeds: 0 }, { seeds: 1.5 }, { faults: ["meteor" as never] }])("refuses %o", async (wrong) => {
    await expect(async () => simulate(sound, { input, ...wrong })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
    });
  });
});

describe("assertDeterministic", () => {
  test("lets a sound flow pass", async () => {
    await assertDeterministic(sound, { input, answers });
  });

  test("throws for a flow that reads the clock on the wall, and shows where", async () => {
    await expect(assertDeterministic(raceOnWallTime, { input, answers })).rejects.toThrow(
      /(set aside|ended as)[^]*EXECUTION_STARTED/,
    );
  });
});

beforeEach(reset);
afterEach(reset);
