// Types: what a flow's author reads off without writing a cast. These are checked by the compiler (`npm run check:types`);
// at run time they only have to load. `@ts-expect-error` marks what must not compile.

import { expectTypeOf, it } from "vitest";
import { z } from "zod";
import {
  defineFlow,
  type ExecutionContext,
  type ExecutionHandle,
  type ExecutionState,
  flow$,
  handler$,
  type LoomApp,
  type LoomConfig,
  lmdbStorage,
  type RegisteredFlow,
  step$,
  tool$,
} from "../../src/index.js";
import { surface } from "../../src/surface/index.js";

const price = step$({
  id: "price",
  inputSchema: z.object({ sku: z.string() }),
  outputSchema: z.object({ cents: z.number() }),
  handler: handler$(async ({ sku }: { sku: string }) => ({ cents: sku.length })),
});
const search = tool$({
  id: "search",
  name: "Search",
  description: "finds",
  inputSchema: z.object({ query: z.string() }),
  outputSchema: z.array(z.string()),
});
const definition = flow$({
  id: "order",
  version: "1",
  inputSchema: z.object({ skus: z.array(z.string()) }),
  outputSchema: z.object({ total: z.number() }),
  steps: [price],
  resumeSchemas: { Approval: z.object({ ok: z.boolean() }) },
});

it("a step, a tool and a flow carry the types of their schemas", () => {
  expectTypeOf(price).toExtend<{
    inputSchema: z.ZodType<{ sku: string }>;
    outputSchema: z.ZodType<{ cents: number }>;
  }>();
  expectTypeOf(search.outputSchema).toExtend<z.ZodType<string[]>>();
  const order = defineFlow(definition, async (_ctx, input) => ({ total: input.skus.length }));
  expectTypeOf(order).toEqualTypeOf<RegisteredFlow<{ skus: string[] }, { total: number }>>();
  // @ts-expect-error the runner returns what the output schema does not allow
  defineFlow(definition, async () => ({ total: "much" }));
  step$({
    id: "x",
    inputSchema: z.string(),
    outputSchema: z.number(),
    // @ts-expect-error the handler returns what the output schema does not allow
    handler: handler$((input: string) => input),
  });
});

it("the context types inputs and results", () => {
  const run = async (ctx: ExecutionContext): Promise<void> => {
    expectTypeOf(await ctx.run(price, { sku: "a" })).toEqualTypeOf<{ cents: number }>();
    expectTypeOf(await ctx.execute(search, { query: "a" })).toEqualTypeOf<string[]>();
    // @ts-expect-error the input is of the wrong type
    void ctx.run(price, { sku: 5 });
    // @ts-expect-error the input lacks what the schema needs
    void ctx.execute(search, {});
    expectTypeOf(await ctx.decide("d", (): "left" | "right" => "left")).toEqualTypeOf<"left" | "right">();
    expectTypeOf(await ctx.decide("d", async ({ decisionId }) => decisionId.length)).toEqualTypeOf<number>();
    expectTypeOf(await ctx.suspend<{ ok: boolean }>({ on: "Approval" })).toEqualTypeOf<{ ok: boolean }>();
    expectTypeOf(await ctx.suspend({ on: "Approval" })).toBeNever();
    expectTypeOf(await ctx.sleep(5)).toBeVoid();
    expectTypeOf(ctx.now()).toBeNumber();
    expectTypeOf(ctx.random()).toBeNumber();
    expectTypeOf(ctx.uuid()).toBeString();
    surface(ctx).set("a", 1);
    surface(ctx, "main").merge("a", { b: 1 });
    // @ts-expect-error only records can be merged
    ctx.ui.merge("a", 5);
    const { decide } = ctx;
    expectTypeOf(await decide("d", () => 5)).toEqualTypeOf<number>();
  };
  expectTypeOf(run).toBeFunction();
});

it("parallel types its results branch by branch, and checks every input", () => {
  const run = async (ctx: ExecutionContext): Promise<void> => {
    const [first, second, third] = await ctx.parallel([
      [price, { sku: "a" }],
      async () => "inline" as const,
      [search, { query: "b" }],
    ]);
    expectTypeOf(first).toEqualTypeOf<{ cents: number }>();
    expectTypeOf(second).toEqualTypeOf<"inline">();
    expectTypeOf(third).toEqualTypeOf<string[]>();
    const prices = await ctx.parallel(
      ["a", "b"].map((sku) => [price, { sku }] as const),
      { limit: 2 },
    );
    expectTypeOf(prices).toEqualTypeOf<{ cents: number }[]>();
    const thunks = await ctx.parallel(["a", "b"].map((sku) => () => ctx.run(price, { sku })));
    expectTypeOf(thunks).toEqualTypeOf<{ cents: number }[]>();
    void ctx.parallel([
      [price, { sku: "a" }],
      // @ts-expect-error the second branch's input is of the wrong type
      [price, { sku: 5 }],
    ]);
  };
  expectTypeOf(run).toBeFunction();
});

it("starting and waiting keep the flow's types", () => {
  const run = async (app: LoomApp): Promise<void> => {
    const order = defineFlow(definition, async () => ({ total: 1 }));
    const handle = await app.runtime.start(order, { skus: ["a"] }, { executionId: "x" });
    expectTypeOf(handle).toEqualTypeOf<ExecutionHandle<{ total: number }>>();
    expectTypeOf(await handle.result()).toEqualTypeOf<{ total: number }>();
    expectTypeOf(await handle.settled()).toEqualTypeOf<ExecutionState>();
    // @ts-expect-error the input does not satisfy the flow's schema
    void app.runtime.start(order, { skus: "a" });
    app.runtime.registerFlow(definition, async (_ctx, { skus }) => ({ total: skus.length }));
    await app.runtime.resume("x", { eventType: "Approval", payload: { ok: true } });
    // @ts-expect-error a resume names its event
    void app.runtime.resume("x", { payload: 1 });
    interface Shown {
      total: number;
    }
    expectTypeOf(app.projectionRuntime.getState<Shown>("main", "x")).toEqualTypeOf<Shown>();
  };
  expectTypeOf(run).toBeFunction();
});

it("flows of any types stand in one list, without casts", () => {
  const order = defineFlow(definition, async () => ({ total: 1 }));
  const other = defineFlow(
    flow$({ id: "other", version: "1", inputSchema: z.string(), outputSchema: z.number() }),
    async (_ctx, input) => input.length,
  );
  const config: LoomConfig = {
    storage: lmdbStorage({ dir: "x" }),
    flows: [order, other],
    flowModules: [{ order, other, VERSION: 1 }],
    execution: { effectMiddleware: [async (_ctx, _input, next) => next()] },
  };
  expectTypeOf(config.flows).toEqualTypeOf<RegisteredFlow[] | undefined>();
  // @ts-expect-error a flat option does not compile
  const flat: LoomConfig = { storage: { kind: "memory" }, onEvent: () => {} };
  // @ts-expect-error a misspelt option does not compile
  const misspelt: LoomConfig = { storage: { kind: "memory" }, execution: { validateInputs: true } };
  expectTypeOf([flat, misspelt]).toBeArray();
});
