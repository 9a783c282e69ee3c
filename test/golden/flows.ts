// The flows whose logs are golden, each with what happens to it from outside. What they do is part of those logs: change one, and its
// log has to be made again, which ARCHITECTURE.md ("Changing the format") allows only to new ones.

import { z } from "zod";
import { agentLoop$ } from "../../src/agent/index.js";
import type { LoomConfig } from "../../src/app/config.js";
import { type EffectRuntime, LlmEffect, ToolEffect } from "../../src/effects/index.js";
import {
  agent$,
  defineFlow,
  type ExecutionContext,
  flow$,
  handler$,
  type RegisteredFlow,
  type StepDefinition,
  type StepOptions,
  sensitive,
  step$,
  surface,
  TypedFailure,
  tool$,
} from "../../src/kernel/index.js";
import type { LlmRequest, LlmResponse } from "../../src/llm/index.js";

export interface GoldenFlow {
  readonly about: string;
  readonly flow: RegisteredFlow;
  readonly input?: unknown;
  /** What somebody outside answers at gates of these names. A gate without an answer stays open. */
  readonly answers?: Readonly<Record<string, unknown>>;
  /** Cancels the execution when it waits at this gate. */
  readonly cancelAt?: string;
  /** Ends there: what it waits for never comes. */
  readonly staysOpen?: boolean;
}

const anything = z.unknown();

type Extra = Omit<StepOptions<unknown, unknown>, "id" | "inputSchema" | "outputSchema" | "handler">;

function step(
  id: string,
  run: Parameters<typeof handler$<unknown, unknown>>[0],
  extra: Extra = {},
): StepDefinition<unknown, unknown> {
  return step$({ id, inputSchema: anything, outputSchema: anything, handler: handler$(run), ...extra });
}

function flow(
  id: string,
  run: (ctx: ExecutionContext, input: unknown) => Promise<unknown>,
  extra: Partial<Parameters<typeof flow$<unknown, unknown>>[0]> = {},
): RegisteredFlow {
  return defineFlow(
    flow$({ id, version: "1", inputSchema: anything, outputSchema: anything, ...extra }),
    run,
  );
}

const codeOf = (error: unknown): unknown => (error as { readonly code?: unknown }).code;

/** Ends when it is told to, and then does its work all the same. */
const stubborn = (_input: unknown, { signal }: { readonly signal: AbortSignal }): Promise<string> =>
  new Promise((resolve) => {
    signal.addEventListener("abort", () => setImmediate(() => resolve("done after all")));
  });

/** With a stack that is nobody's: those of a machine differ. */
function withoutPlace(error: Error): Error {
  error.stack = `${error.name}: ${error.message}\n    at somewhere`;
  return error;
}

function values(): unknown {
  const shared = { shared: true };
  const circular: Record<string, unknown> = { name: "circle" };
  circular["self"] = circular;
  return {
    nothing: undefined,
    none: null,
    numbers: [0, -0, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, -1],
    big: 2n ** 80n,
    text: "größer \u{1f600}",
    date: new Date(0),
    map: new Map<unknown, unknown>([
      ["a", 1],
      [{ key: true }, new Set([1, "2"])],
    ]),
    regexp: /a+b/giu,
    bytes: Buffer.from("bytes"),
    floats: Float64Array.of(1, 2),
    twice: [shared, shared],
    circular,
    error: Object.assign(
      withoutPlace(new RangeError("out of range", { cause: withoutPlace(new Error("deeper")) })),
      {
        code: "E_RANGE",
      },
    ),
    bare: Object.assign(Object.create(null) as object, { proto: "none" }),
    // oxlint-disable-next-line no-sparse-arrays -- a hole is a value of its own
    holes: [1, , 3],
  };
}

const Card = z.object({ owner: z.string(), pin: sensitive(z.string()) });

const look = tool$({
  id: "look",
  description: "Looks",
  inputSchema: z.looseObject({}),
  outputSchema: anything,
});
const agent = agent$({ id: "scout", tools: [look] });

export const GOLDEN_FLOWS: Readonly<Record<string, GoldenFlow>> = {
  steps: {
    about: "three steps in sequence, one of them by the name of an effect, and an output",
    input: { from: 1 },
    flow: flow("steps", async (ctx, input) => {
      const one = await ctx.run(
        step("one", (from) => [from, "one"]),
        input,
      );
      const two = await ctx.execute({ id: "two", toolId: "echo" }, one);
      return ctx.run(
        step("three", (given) => ({ given })),
        two,
      );
    }),
  },
  values: {
    about: "every kind of value that can be recorded, as the input, result and output",
    input: values(),
    flow: flow("values", (ctx, input) =>
      ctx.run(
        step("pass", (value) => value),
        input,
      ),
    ),
  },
  failures: {
    about: "a failure on a channel, a plain one, a step issued again, and a flow that fails",
    flow: flow("failures", async (ctx) => {
      const soldOut = step(
        "typed",
        () => {
          throw new TypedFailure("soldOut", { left: 0 });
        },
        {
          errors: { soldOut: z.object({ left: z.number() }) },
        },
      );
      const plain = step("plain", (_, { idempotencyKey }) => {
        if (idempotencyKey.endsWith("#2")) return "second issue";
        throw Object.assign(new TypeError("first issue"), { code: "E_FIRST" });
      });
      const channel = await ctx.run(soldOut, 1).catch((error: unknown) => (error as TypedFailure).channel);
      const again = await ctx.run(plain, 1).catch(() => ctx.run(plain, 1));
      throw Object.assign(new RangeError(`${channel}, ${String(again)}`), { code: "E_GIVEN_UP" });
    }),
  },
  retries: {
    about: "a step that succeeds at its third attempt, and one that uses its attempts up",
    flow: flow("retries", async (ctx) => {
      const flaky = step(
        "flaky",
        (_, { attempt }) => {
          if (attempt < 3) throw new Error(`attempt ${attempt}`);
          return attempt;
        },
        { retry: { maxAttempts: 5, baseDelayMs: 1_000 } },
      );
      const never = step(
        "never",
        () => {
          throw new Error("never");
        },
        { retry: { maxAttempts: 2, baseDelayMs: 10 }, deadlineMs: 60_000 },
      );
      return [await ctx.run(flaky, 1), await ctx.run(never, 1).catch(String)];
    }),
  },
  decisions: {
    about: "decisions, made and failed, and values from outside",
    flow: flow("decisions", async (ctx) => {
      const choice = await ctx.decide("route", () => ({ to: "left" }), {
        rationale: { why: "nearer" },
        source: "test",
      });
      const failed = await ctx
        .decide("bad", () => {
          throw new SyntaxError("no choice");
        })
        .catch(String);
      return [choice, failed, typeof ctx.now(), typeof ctx.random(), typeof ctx.uuid()];
    }),
  },
  gates: {
    about: "a gate that is answered, one that times out, a sleep, and two gates of one name side by side",
    answers: { Approved: { ok: true }, Signed: "S" },
    flow: flow("gates", async (ctx) => {
      const approved = await ctx.suspend({ on: "Approved", correlationKey: "order-1" });
      const silence = await ctx.suspend({ on: "Silence", timeout: 5_000 }).catch(codeOf);
      await ctx.sleep(60_000);
      const signed = await ctx.parallel([
        () => ctx.suspend({ on: "Signed", correlationKey: "a" }),
        () => ctx.suspend({ on: "Signed", correlationKey: "b" }),
      ]);
      return [approved, silence, signed];
    }),
  },
  parked: {
    about: "an execution that waits: at a gate with a timeout, at one without, in a sleep",
    staysOpen: true,
    flow: flow("parked", (ctx) =>
      Promise.all([
        ctx.suspend({ on: "Never", timeout: 10 ** 9 }),
        ctx.suspend({ on: "Ever" }),
        ctx.sleep(10 ** 10),
      ]),
    ),
  },
  events: {
    about:
      "what programs emit, from the flow and from an effect: events, pieces of a stream, patches of surfaces",
    flow: flow("events", async (ctx) => {
      ctx.emit("Begun", { at: new Date(0) });
      ctx.stream("words", "one ");
      ctx.stream("words", "two", true);
      surface(ctx, "board").set("phase", "working");
      ctx.ui.append("list", 1);
      ctx.ui.merge("map", { a: 1 });
      return ctx.run(
        step("tells", (_, { emit }) => {
          emit("Told", { count: 1 });
          return 1;
        }),
        1,
      );
    }),
  },
  cancelled: {
    about: "a cancellation at a gate, an attempt that comes to its end late, cleanup in a shield",
    cancelAt: "Go",
    answers: { Cleaned: "yes" },
    flow: flow("cancelled", async (ctx) => {
      const working = ctx.run(step("stubborn", stubborn), 1).catch(codeOf);
      const code = await ctx.suspend({ on: "Go" }).catch(codeOf);
      await ctx.shield(async (shielded) => {
        await shielded.run(
          step("undo", (given) => given),
          [code, await working],
        );
        await shielded.suspend({ on: "Cleaned", timeout: 10 ** 9 });
      });
      return ctx.sleep(1);
    }),
  },
  overdue: {
    about: "an execution over its deadline",
    flow: flow(
      "overdue",
      async (ctx) => {
        await ctx.sleep(10 ** 9);
      },
      { deadlineMs: 60_000 },
    ),
  },
  doubt: {
    about: "a step that may not run twice and was cut off by its time limit: in doubt, and decided",
    flow: flow("doubt", (ctx) => ctx.run(step("once", stubborn, { idempotent: false, timeoutMs: 1_000 }), 1)),
  },
  budgets: {
    about: "what attempts used, a failed one too, and a budget that is used up",
    flow: flow("budgets", async (ctx) => {
      const first = await ctx.execute(
        { id: "first", toolId: "spend", retry: { maxAttempts: 2, baseDelayMs: 10 } },
        60,
      );
      const second = await ctx.execute({ id: "second", toolId: "spend" }, 60);
      return [first, second, await ctx.execute({ id: "third", toolId: "spend" }, 1).catch(codeOf)];
    }),
  },
  sealed: {
    about: "marked values, sealed in the input, in a step and at a gate",
    input: { owner: "ada", pin: "0042" },
    answers: { Code: "1234" },
    flow: defineFlow(
      flow$({
        id: "sealed",
        version: "1",
        inputSchema: Card,
        outputSchema: anything,
        resumeSchemas: { Code: sensitive(z.string()) },
      }),
      async (ctx, card) => {
        const charge = step$({
          id: "charge",
          inputSchema: Card,
          outputSchema: z.object({ receipt: z.string(), token: sensitive(z.string()) }),
          handler: handler$(({ owner, pin }) => ({ receipt: owner, token: `token of ${pin}` })),
        });
        const { receipt, token } = await ctx.run(charge, card);
        const code = await ctx.suspend<string>({ on: "Code" });
        return [receipt, token.length, code.length];
      },
    ) as RegisteredFlow,
  },
  "claim-check": {
    about: "a result beside the log, cited by a step, an event and the output",
    flow: flow("claim-check", async (ctx) => {
      const envelope = await ctx.execute<unknown, { readonly ref: string }>({ id: "rows" }, null);
      ctx.emit("Finding", { evidence: envelope.ref });
      return envelope;
    }),
  },
  agent: {
    about:
      "an agent of three turns with two calls of a tool; its turns name the messages that earlier events hold",
    flow: flow("agent", async (ctx) => {
      const { content, iterations } = await agentLoop$(
        ctx,
        { definition: agent, modelToolId: "model", systemPrompt: "You look." },
        { prompt: "go" },
      );
      return { content, iterations };
    }),
  },
};

function model({ messages }: LlmRequest): LlmResponse {
  const turn = messages.filter(({ role }) => role === "assistant").length;
  if (turn === 2)
    return { content: "Seen both.", stopReason: "end", usage: { inputTokens: 9, outputTokens: 3 } };
  return {
    content: `Look ${turn}.`,
    toolCalls: [{ id: `call_${turn}`, name: "look", input: { at: turn } }],
    stopReason: "toolUse",
    usage: { inputTokens: 5, outputTokens: 2 },
  };
}

function registerEffects(effects: EffectRuntime): void {
  effects.register("echo", new ToolEffect((input) => input));
  effects.register(
    "look",
    new ToolEffect(({ at }: { readonly at: number }) => ({ at, seen: "s".repeat(40) })),
  );
  effects.register("rows", new ToolEffect(() => Array.from({ length: 500 }, (_, row) => ({ row }))));
  effects.register("model", new LlmEffect(model));
  effects.register(
    "spend",
    new ToolEffect((tokens: number, ctx) => {
      const isInVain = ctx.stepId === "first" && ctx.attempt === 1;
      ctx.meter({ tokens: isInVain ? 5 : tokens, cost: 0.5 });
      if (isInVain) throw new Error("spent in vain");
      return tokens;
    }),
  );
}

/** One configuration for all of them. */
export const GOLDEN_CONFIG = {
  flows: Object.values(GOLDEN_FLOWS).map(({ flow }) => flow),
  security: { sealingKey: Buffer.alloc(32, 7) },
  execution: {
    registerEffects,
    claimCheck: { toolIds: ["rows"], inlineCapBytes: 1_024 },
    envelope: { budgets: [{ scope: "execution", meter: "tokens", limit: 100 }] },
  },
} satisfies Partial<LoomConfig>;
