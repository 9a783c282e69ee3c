// What is going on right now: told to whoever looks, kept for nobody, and never at the cost of who tells it.

import { describe, expect, it } from "vitest";
import { ProgressHub, type ProgressPiece, progressHub } from "../../src/index.js";
import { latch } from "../support/latch.js";
import { until } from "../support/until.js";

function textOf(pieces: readonly ProgressPiece[]): string {
  return pieces.map(({ text }) => text).join("");
}

describe("ProgressHub", () => {
  it("tells the readers of an execution what is reported of it from then on, in order", async () => {
    const hub = new ProgressHub();
    const seen: ProgressPiece[] = [];
    hub.report("x", "missed ");
    const leave = hub.subscribe("x", (piece) => void seen.push(piece));
    for (const word of ["a ", "b ", "c"]) hub.report("x", word);
    hub.report("other", "nothing for us");
    await until(() => textOf(seen) === "a b c", "the readers are told");
    leave();
    leave();
    hub.report("x", "left");
    expect(textOf(seen)).toBe("a b c");
    expect(seen[0]).toEqual({ executionId: "x", text: "a ", droppedChars: 0 });
  });

  it("a reader that throws, or rejects, is nobody else's failure, and goes on reading", async () => {
    const hub = new ProgressHub();
    const seen: string[] = [];
    hub.subscribe("x", ({ text }) => {
      seen.push(text);
      throw new Error("broken display");
    });
    hub.subscribe("x", async ({ text }) => {
      seen.push(text);
      return Promise.reject(new Error("broken socket"));
    });
    hub.report("x", "1");
    await until(() => seen.length === 2, "the readers are told");
    hub.report("x", "2");
    await until(() => seen.length === 4, "the readers are told");
    expect(seen.toSorted()).toEqual(["1", "1", "2", "2"]);
  });

  it("holds a bounded text for a reader that is busy, and says how much it let go", async () => {
    const hub = new ProgressHub({ waitingChars: 10 });
    const slow = latch();
    const seen: ProgressPiece[] = [];
    hub.subscribe("x", async (piece) => {
      seen.push(piece);
      if (seen.length === 1) await slow.opened;
    });
    hub.report("x", "first");
    for (let i = 0; i < 100_000; i++) hub.report("x", "tenletters");
    hub.report("x", "last");
    expect(seen.length).toBe(1);
    slow.open();
    await until(() => seen.length === 2, "the readers are told");
    expect(seen[1]).toEqual({ executionId: "x", text: "etterslast", droppedChars: 999_994 });
  });

  it("cuts between characters, never inside one", async () => {
    const hub = new ProgressHub({ waitingChars: 3 });
    const seen: ProgressPiece[] = [];
    hub.subscribe("x", (piece) => void seen.push(piece));
    hub.report("x", "🙂🙂");
    await until(() => seen.length === 1, "the readers are told");
    expect(seen[0]).toEqual({ executionId: "x", text: "🙂", droppedChars: 2 });
  });

  it("has as many readers as it may have, and room again when one leaves", () => {
    const hub = new ProgressHub({ readers: 1 });
    const leave = hub.subscribe("x", () => 0);
    expect(() => hub.subscribe("y", () => 0)).toThrow(/There are 1 readers/);
    leave();
    hub.subscribe("y", () => 0);
    expect(() => new ProgressHub({ waitingChars: 0 })).toThrow(/waitingChars must be a whole number/);
    expect(progressHub).toBeInstanceOf(ProgressHub);
  });
});
