import { describe, expect, it } from "vitest";
import { Backlog } from "../../src/actors/backlog.js";
import type { InFlight } from "../../src/actors/in-flight.js";
import type { EffectExecutor } from "../../src/effects/index.js";

/** A place elsewhere with room for so many. */
function place(room: number) {
  const sent: string[] = [];
  let retries: (() => void)[] = [];
  const executor: EffectExecutor = {
    dispatch: () => {},
    elsewhere: ({ toolId }) =>
      toolId === "pool" ? { hasRoom: room > 0, whenRoom: (retry) => void retries.push(retry) } : undefined,
  };
  const backlog = new Backlog(executor, ({ executionId, stepId, toolId }) => {
    if (toolId === "pool") room--;
    sent.push(`${executionId}/${stepId}`);
  });
  return {
    backlog,
    sent,
    free(more: number): void {
      room += more;
      const waiting = retries;
      retries = [];
      for (const retry of waiting) retry();
    },
    get askedFor(): number {
      return retries.length;
    },
  };
}

const attempt = (executionId: string, stepId: string, toolId = "pool"): InFlight =>
  ({ executionId, stepId, toolId }) as unknown as InFlight;

describe("the backlog", () => {
  it("C-EFF-03: lets executions take turns, each in its own order", () => {
    const { backlog, sent, free } = place(1);
    for (let i = 0; i < 1_000; i++) backlog.offer(attempt("wide", `s${i}`));
    backlog.offer(attempt("narrow", "only"));
    expect(sent).toEqual(["wide/s0"]);
    expect(backlog.size).toBe(1_000);
    free(2);
    expect(sent).toContain("narrow/only");
    free(2);
    expect(sent.filter((name) => name.startsWith("wide"))).toEqual(
      sent.filter((name) => name.startsWith("wide")).map((_, i) => `wide/s${i}`),
    );
  });

  it("asks for room once, however much waits for it", () => {
    const world = place(0);
    for (let i = 0; i < 50; i++) world.backlog.offer(attempt("x", `s${i}`));
    expect(world.askedFor).toBe(1);
    world.free(50);
    expect(world.sent).toHaveLength(50);
    expect(world.askedFor).toBe(0);
  });

  it("lets nothing pass what waits, not even when there is room again", () => {
    const world = place(1);
    world.backlog.offer(attempt("a", "first"));
    world.backlog.offer(attempt("a", "second"));
    world.backlog.offer(attempt("a", "third"));
    world.free(1);
    expect(world.sent).toEqual(["a/first", "a/second"]);
  });

  it("never holds up what runs in the thread of its execution", () => {
    const world = place(0);
    world.backlog.offer(attempt("a", "pooled"));
    world.backlog.offer(attempt("b", "inline", "handler"));
    expect(world.sent).toEqual(["b/inline"]);
  });

  it("forgets what waits when everything in memory is dropped", () => {
    const world = place(0);
    world.backlog.offer(attempt("a", "pooled"));
    world.backlog.clear();
    world.free(1);
    expect(world.sent).toEqual([]);
  });
});
