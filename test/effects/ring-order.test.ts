// Goal: the order of the ring is the list in src/effects/ring.ts, seen from outside: of two layers that both refuse an effect it
// is the outer one that is heard, and nothing further in has been asked.
// Method: a flow of two steps. The first passes all layers, and is what a budget needs to be used up; the second is refused by
// each of the layers a row names. A layer that is new in RingParts does not compile until it has its place here.

import { describe, expect, it } from "vitest";
import {
  type EffectContext,
  type EffectMiddleware,
  FlowPolicies,
  Redactor,
  type RingParts,
  ring,
} from "../../src/effects/index.js";

import {
  GrantTable,
  type HeddleConfig,
  isClaimCheck,
  KillSwitch,
  policy$,
  secretRef,
  ToolEffect,
} from "../../src/index.js";
import { flow, openApp } from "../lifecycle/world.js";

type Layer = Exclude<keyof RingParts, "policies" | "flowPolicies">;

/** Outermost first. */
const ORDER = {
  killSwitch: "EFFECT_STOPPED",
  authorizer: "EFFECT_DENIED",
  budgeting: "QUOTA_EXCEEDED",
  middleware: "of the middleware",
  claimCheck: undefined, // refuses nothing before the effect: what it does is below
  secrets: "SECRET_UNRESOLVED",
} as const satisfies Record<Layer, string | undefined>;

type Refusing = { [L in Layer]: (typeof ORDER)[L] extends string ? L : never }[Layer] | "effect";
const REFUSING: readonly Refusing[] = [
  "killSwitch",
  "authorizer",
  "budgeting",
  "middleware",
  "secrets",
  "effect",
];
const heard = (layer: Refusing): string => (layer === "effect" ? "of the effect" : ORDER[layer]);

/** Runs both steps with `refusing` refusing the second. Gives what it failed with, and which layers were asked about it. */
async function play(refusing: readonly Refusing[]) {
  const asked: string[] = [];
  const note = (layer: string, { stepId }: { stepId: string }): boolean => {
    if (stepId !== "second") return false;
    asked.push(layer);
    return refusing.includes(layer as Refusing);
  };
  const killSwitch = new KillSwitch();
  const config: Omit<HeddleConfig, "storage"> = {
    security: {
      killSwitch,
      authorizer: { authorize: (request) => ({ allowed: !note("authorizer", request) }) },
      secrets: {
        resolver: (_name, ctx) => {
          if (note("secrets", ctx)) throw new Error("of the resolver");
          return "s3cret";
        },
      },
    },
    execution: {
      envelope: {
        budgets: [{ scope: "execution", meter: "calls", limit: refusing.includes("budgeting") ? 1 : 2 }],
      },
      effectMiddleware: [
        async (ctx, _input, next) => {
          if (note("middleware", ctx)) throw new Error("of the middleware");
          return next();
        },
      ],
      claimCheck: { toolIds: ["act"] },
      registerEffects: (effects) =>
        effects.register(
          "act",
          new ToolEffect((_input, ctx) => {
            if (note("effect", ctx)) throw new Error("of the effect");
            if (ctx.stepId === "first" && refusing.includes("killSwitch"))
              void killSwitch.engage({ kind: "system" }, "drill");
            return "done";
          }),
        ),
    },
  };
  const f = flow("f", async (ctx) => {
    const input = { key: secretRef("key") };
    await ctx.execute({ id: "first", toolId: "act" }, input);
    return ctx.execute({ id: "second", toolId: "act" }, input);
  });
  const app = openApp({ flows: [f], ...config });
  const handle = await app.runtime.start(f, null);
  const { error } = await handle.waitForCompletion();
  const { code, message } = (error ?? {}) as { code?: string; message?: string };
  return { heard: code ?? message, asked };
}

const pairs = REFUSING.flatMap((outer, i) => REFUSING.slice(i + 1).map((inner) => [outer, inner] as const));

describe("of two layers that refuse", () => {
  it.each(pairs)("%s is heard, and %s is not", async (outer, inner) => {
    const both = await play([outer, inner]);
    expect(both.heard).toBe(heard(outer));
    expect(both.asked).not.toContain(inner);
    // Either refuses when it is alone.
    expect((await play([inner])).heard).toBe(heard(inner));
  });
});

describe("an effect that nothing refuses", () => {
  it("is asked about from the outside in", async () => {
    expect(await play([])).toEqual({
      heard: undefined,
      asked: ["authorizer", "middleware", "secrets", "effect"],
    });
  });

  it("has as many layers around it as the order names", () => {
    const pass: EffectMiddleware = (_ctx, _input, next) => next();
    const budgeting = { ledger: {}, now: () => 0 } as unknown as NonNullable<RingParts["budgeting"]>;
    const parts: Required<RingParts> = {
      killSwitch: new KillSwitch(),
      authorizer: new GrantTable({}),
      policies: [policy$({ id: "all", allow: ["*"] })],
      flowPolicies: new FlowPolicies(),
      budgeting,
      middleware: [pass],
      claimCheck: pass,
      secrets: new Redactor(() => "s3cret", Date.now),
    };
    expect(ring(parts)).toHaveLength(Object.keys(ORDER).length);
    expect(ring({})).toEqual([]);
  });
});

describe("what a layer sees", () => {
  it("middleware stands in the order it was given, and sees what the log will record; the effect alone what is behind it", async () => {
    const seen: [layer: string, what: string][] = [];
    const kindOf = (value: unknown): string => {
      if (isClaimCheck(value)) return "envelope";
      return typeof value === "string" ? "text" : typeof value;
    };
    const spy =
      (name: string): EffectMiddleware =>
      async (_ctx: EffectContext, input, next) => {
        seen.push([`${name} in`, kindOf(input)]);
        const output = await next();
        seen.push([`${name} out`, kindOf(output)]);
        return output;
      };
    const f = flow("f", async (ctx) => {
      const envelope = await ctx.execute({ id: "make", toolId: "make" }, secretRef("key"));
      return ctx.execute({ id: "use", toolId: "use" }, envelope);
    });
    const app = openApp({
      flows: [f],
      security: { secrets: { resolver: () => "s3cret" } },
      execution: {
        effectMiddleware: [spy("outer"), spy("inner")],
        claimCheck: { toolIds: ["make", "use"] },
        registerEffects: (effects) => {
          effects.register(
            "make",
            new ToolEffect((input) => {
              seen.push(["effect in", kindOf(input)]);
              return "x".repeat(100_000);
            }),
          );
          effects.register(
            "use",
            new ToolEffect((input: string) => {
              seen.push(["effect in", kindOf(input)]);
              return input.length;
            }),
          );
        },
      },
    });
    const handle = await app.runtime.start(f, null);
    expect(await handle.result()).toBe(100_000);
    expect(seen).toEqual([
      ["outer in", "object"],
      ["inner in", "object"],
      ["effect in", "text"],
      ["inner out", "envelope"],
      ["outer out", "envelope"],
      ["outer in", "envelope"],
      ["inner in", "envelope"],
      ["effect in", "text"],
      ["inner out", "number"],
      ["outer out", "number"],
    ]);
  });
});
