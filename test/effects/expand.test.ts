// Goal: a step may record less than its effect is given, and everything that goes by the record goes by the short form.
// Method: a step whose input names a word and whose `expand` looks the sentence up; the same on a thread of the pool in
// test/workers/effects/expand.test.ts.

import { describe, expect, test } from "vitest";
import { flow, World } from "../support/world.js";

const SENTENCES: Readonly<Record<string, string>> = { a: "the whole of a", b: "the whole of b" };
const expand = (word: unknown): string => SENTENCES[word as string] ?? "nothing";

describe("expand", () => {
  test("the effect and the ring around it are given what it makes; the log holds what was recorded", async () => {
    const world = World.memory();
    const seen: unknown[] = [];
    const step = world.step("s", (input) => `read ${String(input)}`, { expand });
    const f = flow("f", (ctx) => ctx.run(step, "a"));
    const process = await world.open([f], {
      middleware: [
        async (_, input, next) => {
          seen.push(input);
          return next();
        },
      ],
    });
    expect(await world.until((await process.start(f, null)).result())).toBe("read the whole of a");
    expect(seen).toEqual(["the whole of a"]);
    expect((await process.runtime.loadState("x")).frames["s"]?.input).toBe("a");
    expect(JSON.stringify(await world.events())).not.toContain(`"input":"the whole`);
  });

  test("is called for each attempt, after a crash too, and never for a step the log has settled", async () => {
    const world = World.memory();
    const calls: string[] = [];
    const make = (process: string) =>
      flow("f", async (ctx) => {
        const counted = (word: unknown): string => {
          calls.push(`${process} ${String(word)}`);
          return expand(word);
        };
        const given: unknown[] = [];
        for (const word of ["a", "b"]) {
          const step = world.step(
            word,
            async (input, { attempt }) => {
              if (word === "b" && attempt === 1) throw new Error("again");
              if (word === "b" && process === "first") await new Promise(() => {});
              return input;
            },
            { expand: counted, retry: { maxAttempts: 2 } },
          );
          given.push(await ctx.run(step, word));
        }
        return given;
      });
    await (await world.open([make("first")])).start(make("first"), null);
    await world.when(() => world.ran("b") === 2);
    const process = await world.restart([make("second")]);
    const handle = await process.start(make("second"), null);
    expect(await world.until(handle.result())).toEqual(["the whole of a", "the whole of b"]);
    expect(calls).toEqual(["first a", "first b", "first b", "second b"]);
  });

  test("a replay matches the recorded form, whatever expand makes of it; another form diverges", async () => {
    const world = World.memory();
    const make = (word: string, sentence: string) =>
      flow("f", async (ctx) => {
        const step = world.step("s", (input) => input, { expand: () => sentence });
        const first = await ctx.run(step, word);
        await ctx.suspend({ on: "go" });
        return first;
      });
    await (await world.open([make("a", "one")])).start(make("a", "one"), null);
    await world.settle();
    const process = await world.restart([make("a", "two")]);
    await process.finish("x", { go: 1 });
    expect(await world.until((await process.start(make("a", "two"), null)).result())).toBe("one");
    await process.start(make("a", "one"), null, "y");
    await world.settle();
    const other = await world.restart([make("b", "one")]);
    const resumed = world.until(other.runtime.resume("y", { eventType: "go" }));
    await expect(resumed).rejects.toMatchObject({ code: "EXECUTION_SET_ASIDE" });
    expect(other.warnings.join()).toMatch(/y of flow f 1 is set aside.*input/s);
  });

  test("what it throws fails the attempt", async () => {
    const world = World.memory();
    const step = world.step("s", () => "ran", {
      expand: () => {
        throw new RangeError("lost");
      },
    });
    const f = flow("f", (ctx) => ctx.run(step, 1).catch(({ name }: Error) => name));
    const process = await world.open([f]);
    expect(await world.until((await process.start(f, null)).result())).toBe("RangeError");
    expect(world.ran("s")).toBe(0);
  });
});
