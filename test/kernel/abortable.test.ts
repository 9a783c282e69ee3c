import { describe, expect, it } from "vitest";
import { Abortable } from "../../src/kernel/index.js";

const watched = (context: { readonly signal: AbortSignal }) => {
  const told: unknown[] = [];
  const takeBack = Abortable.watch(context, () => told.push(context.signal.reason));
  return { told, takeBack };
};

describe("watching a context", () => {
  it("hears of its abort once, with the reason its signal has", () => {
    const attempt = new Abortable();
    const { told } = watched(attempt);
    expect(Abortable.isAborted(attempt)).toBe(false);
    attempt.abort("stop");
    attempt.abort("again");
    expect(told).toEqual(["stop"]);
    expect(Abortable.isAborted(attempt)).toBe(true);
  });

  it("hears at once of one that is aborted, and nothing once it is taken back", () => {
    const attempt = new Abortable();
    const others = [watched(attempt), watched(attempt), watched(attempt)];
    others[1]!.takeBack();
    attempt.abort("stop");
    expect(others.map(({ told }) => told)).toEqual([["stop"], [], ["stop"]]);
    const late = watched(attempt);
    attempt.abort("again");
    expect(late.told).toEqual(["stop"]);
  });

  it("of one that was made of it with another signal hears of that signal alone", () => {
    const attempt = new Abortable();
    const own = new AbortController();
    const made = Object.create(attempt, { signal: { value: own.signal } }) as { signal: AbortSignal };
    const { told, takeBack } = watched(made);
    attempt.abort("theirs");
    expect(told).toEqual([]);
    own.abort("own");
    expect(told).toEqual(["own"]);
    takeBack();
    expect(Abortable.isAborted({ signal: AbortSignal.abort() })).toBe(true);
  });
});
