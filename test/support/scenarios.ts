// Scenarios: flows that between them use everything a context offers, each with what somebody outside answers. Tests run
// all of them under one kind of disturbance (passivation, a crash at every commit) and compare with the undisturbed run.
//
// Every outcome is settled by the flow, not by a photo finish: where two things race, one is far ahead of the other also
// when a crash makes it start again.

import { z } from "zod";
import type { RegisteredFlow } from "../../src/kernel/index.js";
import { surface, TypedFailure } from "../../src/kernel/index.js";
import { type Answers, flow, type World } from "./world.js";

export interface Scenario {
  readonly name: string;
  readonly make: (world: World) => RegisteredFlow;
  readonly answers?: Answers;
}

const message = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export const SCENARIOS: readonly Scenario[] = [
  {
    name: "five steps in sequence",
    make: (world) => {
      const steps = [1, 2, 3, 4, 5].map((n) => world.step<number, number>(`s${n}`, (sum) => sum + n));
      return flow("sequence", async (ctx) => {
        let sum = 0;
        for (const step of steps) sum = await ctx.run(step, sum);
        return sum;
      });
    },
  },
  {
    name: "surfaces, steps and a gate",
    make: (world) => {
      const one = world.step("one", () => "one");
      const two = world.step("two", () => "two");
      return flow("surfaces", async (ctx) => {
        const ui = surface(ctx, "board");
        ui.set("a", { n: 1 });
        ui.merge("a", { first: await ctx.run(one, null) });
        ui.set("b", []);
        ui.append("b", await ctx.run(two, null));
        ctx.ui.set("c", undefined);
        return ctx.suspend<{ ok: boolean }>({ on: "approve" });
      });
    },
    answers: { approve: { ok: true } },
  },
  {
    name: "five branches that end in another order, one failing",
    make: (world) => {
      const branches = [50, 10, 40, 20, 30].map((ms, index) =>
        world.step<number, number>(`b${index}`, async (n) => {
          await world.delay(ms);
          if (index === 3) throw new RangeError(`branch ${n} failed`);
          return n * 2;
        }),
      );
      const after = world.step<string, string>("after", (text) => text.toUpperCase());
      return flow("branches", async (ctx) => {
        const [b0, b1, b2, b3, b4] = branches;
        try {
          await ctx.parallel([
            [b0!, 0],
            [b1!, 1],
            [b2!, 2],
            [b3!, 3],
            [b4!, 4],
          ]);
          return "no branch failed";
        } catch (error) {
          return ctx.run(after, message(error));
        }
      });
    },
  },
  {
    name: "branches with a limit, nested, some of them functions",
    make: (world) => {
      const leaf = (id: string, ms: number) =>
        world.step<string, string>(id, async (text) => {
          await world.delay(ms);
          return `${text}.`;
        });
      const leaves = {
        a: leaf("a", 30),
        b: leaf("b", 10),
        c: leaf("c", 20),
        d: leaf("d", 5),
        e: leaf("e", 1),
      };
      return flow("nested", async (ctx) =>
        ctx.parallel(
          [
            [leaves.a, "a"],
            async () =>
              ctx.parallel([
                [leaves.b, "b"],
                async () => (await ctx.run(leaves.c, "c")) + (await ctx.run(leaves.d, "d")),
              ]),
            async () => {
              await ctx.sleep(7);
              return ctx.run(leaves.e, "e");
            },
          ],
          { limit: 2 },
        ),
      );
    },
  },
  {
    name: "race, any and allSettled",
    make: (world) => {
      const quick = world.step("quick", async () => {
        await world.delay(1);
        return "x".repeat(200_000);
      });
      const slow = world.step("slow", async () => {
        await world.delay(100_000);
        return "slow";
      });
      const fails = world.step("fails", async () => {
        await world.delay(1);
        throw new Error("no");
      });
      const last = world.step<unknown, unknown>("last", (value) => value);
      return flow("races", async (ctx) => {
        const raced = await Promise.race([ctx.run(slow, 1), ctx.run(quick, 1), ctx.sleep(1_000_000)]);
        const any = await Promise.any([ctx.run(fails, 1), ctx.decide("d", () => "decided")]);
        const settled = await Promise.allSettled([ctx.sleep(3), ctx.suspend({ on: "go", timeout: 50_000 })]);
        return ctx.run(last, [String(raced).length, any, settled.map(({ status }) => status)]);
      });
    },
    answers: { go: 1 },
  },
  {
    name: "retries",
    make: (world) => {
      const flaky = world.step<string, string>(
        "flaky",
        (text, { attempt, idempotencyKey }) => {
          if (attempt < 3) throw new Error(`attempt ${attempt}`);
          return `${text} ${idempotencyKey}`;
        },
        { retry: { maxAttempts: 5, baseDelayMs: 1_000, factor: 3 } },
      );
      const never = world.step("never", () => Promise.reject(new TypeError("always")), {
        retry: { maxAttempts: 2, baseDelayMs: 10 },
      });
      return flow("retries", async (ctx) => {
        const first = await ctx.run(flaky, "done");
        return [first, await ctx.run(never, 1).catch(message)];
      });
    },
  },
  {
    name: "one gate after another, by one name",
    make: (world) => {
      const note = [0, 1, 2].map((i) => world.step<unknown, unknown>(`note#${i}`, (answer) => ({ answer })));
      return flow("gates", async (ctx) => {
        const notes: unknown[] = [];
        for (const step of note) notes.push(await ctx.run(step, await ctx.suspend({ on: "next" })));
        return notes;
      });
    },
    answers: { "next#0": null, "next#1": 0, "next#2": "" },
  },
  {
    name: "several gates at once, each with its key",
    make: (world) => {
      const use = ["a", "b", "c"].map((key) =>
        world.step<unknown, unknown>(`use-${key}`, (value) => [key, value]),
      );
      return flow("keys", async (ctx) => {
        const branch = (index: number) => async () => {
          const key = "abc"[index]!;
          const first = await ctx.suspend({ on: "approve", correlationKey: key });
          const second = await ctx.suspend({ on: "approve", correlationKey: `${key}${key}` });
          return ctx.run(use[index]!, [first, second]);
        };
        return ctx.parallel([branch(0), branch(1), branch(2)]);
      });
    },
    answers: {
      "approve#2": "c",
      "approve#0": "a",
      "approve#4": "aa",
      "approve#1": "b",
      "approve#3": "cc",
      "approve#5": "bb",
    },
  },
  {
    name: "sleeps and a gate that nobody answers",
    make: (world) => {
      const step = world.step("between", () => "between");
      return flow("times", async (ctx) => {
        const begun = ctx.now();
        await ctx.sleep(60_000);
        const between = await ctx.run(step, 1);
        try {
          await ctx.suspend({ on: "silence", timeout: 3_600_000 });
          return "answered";
        } catch (error) {
          return [between, (error as { code?: string }).code, ctx.now() - begun >= 3_660_000];
        }
      });
    },
  },
  {
    name: "decisions, good and bad, quick and slow",
    make: (world) => {
      const act = world.step<unknown, unknown>("act", (choice) => ({ choice }));
      return flow("decisions", async (ctx) => {
        const { decide } = ctx;
        const quick = await decide("quick", () => 7, { rationale: { why: "lucky" }, source: "test" });
        const slow = decide("slow", async ({ executionId, decisionId }) => {
          await world.delay(25);
          return `${executionId} ${decisionId}`;
        });
        const bad = await decide("bad", () => {
          throw new SyntaxError("no choice");
        }).catch(message);
        const late = await decide("late", async () => {
          await world.delay(5);
          throw new Error("too late");
        }).catch(message);
        return ctx.run(act, [quick, await slow, bad, late]);
      });
    },
  },
  {
    name: "failures the flow catches, typed and not, issued again",
    make: (world) => {
      let sold = false;
      const typed = world.step<{ sku: string }, string>(
        "typed",
        () => {
          throw new TypedFailure("soldOut", { left: 0 });
        },
        { errors: { soldOut: z.object({ left: z.number() }) } },
      );
      const plain = world.step<number, string>("plain", async (_input, { idempotencyKey }) => {
        await world.delay(1);
        if (!idempotencyKey.endsWith("#2")) throw new Error("first issue");
        return "second issue";
      });
      return flow("failures", async (ctx) => {
        const seen: unknown[] = [];
        for (let i = 0; i < 2; i++) {
          await ctx.run(typed, { sku: "s" }).catch((error: unknown) => {
            sold = error instanceof TypedFailure;
            seen.push(
              sold && (error as TypedFailure).channel,
              (error as TypedFailure).payload,
              message(error),
            );
          });
        }
        const again = await ctx.run(plain, 1).catch(() => ctx.run(plain, 1));
        return [...seen, again];
      });
    },
  },
  {
    name: "events, streams and values from outside",
    make: (world) => {
      const step = world.step<unknown, unknown>("use", (count, ctx) => {
        ctx.emit("used", { count });
        return count;
      });
      return flow("values", async (ctx) => {
        ctx.emit("begun", { at: ctx.now() });
        ctx.stream("words", "one ");
        ctx.stream("words", "two", true);
        const values = [ctx.now(), ctx.random(), ctx.uuid()];
        await ctx.sleep(5);
        const more = [ctx.now(), ctx.random(), ctx.uuid()];
        // Another value on a replay would be another payload here, and so a divergence.
        ctx.emit("drawn", { values, more });
        return ctx.run(step, new Set([...values, ...more]).size);
      });
    },
  },
  {
    name: "a failure awaited only later",
    make: (world) => {
      const fails = world.step("fails", async () => {
        await world.delay(10);
        throw new Error("late");
      });
      const other = world.step("other", () => 1);
      return flow("later", async (ctx) => {
        const pending = ctx.run(fails, 1);
        const branches = ctx.parallel([[other, 1], () => pending]);
        await ctx.sleep(50);
        const caught: string[] = [];
        try {
          await pending;
        } catch (error) {
          caught.push(message(error));
        }
        await branches.catch((error: unknown) => caught.push(message(error)));
        return caught;
      });
    },
  },
  {
    name: "catch and finally around a gate",
    make: (world) => {
      const oops = world.step("oops", () => "oops");
      const cleanup = world.step("cleanup", () => "clean");
      return flow("finally", async (ctx) => {
        const trail: unknown[] = [];
        try {
          trail.push(await ctx.suspend({ on: "x" }));
        } catch {
          trail.push(await ctx.run(oops, 1));
        } finally {
          trail.push(await ctx.run(cleanup, 1));
        }
        return trail;
      });
    },
    answers: { x: false },
  },
  {
    name: "a flow that fails while branches are still at work",
    make: (world) => {
      const slow = world.step("slow", async () => {
        await world.delay(100_000);
      });
      const quick = world.step("quick", async () => {
        await world.delay(1);
      });
      return flow("fails", async (ctx) => {
        void ctx.run(slow, 1);
        void ctx.sleep(1_000_000);
        void ctx.suspend({ on: "nobody", timeout: 2_000_000 });
        await ctx.run(quick, 1);
        throw Object.assign(new RangeError("given up"), { code: "E_GIVEN_UP", at: new Date(0) });
      });
    },
  },
  {
    name: "a deadline, and cleanup in a shield",
    make: (world) => {
      const slow = world.step("slow", async () => {
        await world.delay(100_000);
      });
      const undo = world.step<string[], string[]>("undo", async (caught) => {
        await world.delay(20);
        return caught;
      });
      const told = world.step<unknown, unknown>("told", (answer) => answer);
      return flow(
        "deadline",
        async (ctx) => {
          const guarded = ctx.shield(async (shielded) => {
            await shielded.sleep(700);
            return "kept";
          });
          const settled = await Promise.allSettled([
            Promise.race([ctx.run(slow, 1), ctx.suspend({ on: "nobody" }), ctx.sleep(1_000_000)]),
            ctx.parallel([async () => ctx.suspend({ on: "nobody", timeout: 50_000 })]),
            guarded,
          ]);
          const caught = settled.map((one) =>
            one.status === "rejected" ? (one.reason as { code: string }).code : String(one.value),
          );
          await ctx.shield(async (shielded) => {
            await shielded.run(undo, caught);
            const answer = await shielded.suspend({ on: "clean", timeout: 60_000 });
            await shielded.parallel([async () => shielded.run(told, answer), async () => shielded.sleep(5)]);
          });
          await ctx.sleep(1);
          return "never got here";
        },
        { deadlineMs: 500 },
      );
    },
    answers: { clean: true },
  },
  {
    name: "a step over its deadline while it waits for its next attempt",
    make: (world) => {
      const flaky = world.step(
        "flaky",
        () => {
          throw new Error("not yet");
        },
        { retry: { maxAttempts: 9, baseDelayMs: 400, factor: 1 }, deadlineMs: 1_000 },
      );
      const after = world.step<string, string>("after", (text) => text);
      return flow("step deadline", async (ctx) => {
        const code = await ctx.run(flaky, 1).catch((error: { code: string }) => error.code);
        return ctx.run(after, String(code));
      });
    },
  },
];
