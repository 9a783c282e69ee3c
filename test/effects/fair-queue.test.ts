// Goal: Q1 and Q2 hold whatever is pushed, taken, put back and removed in whichever order. Method: a model that is slow
// and obvious: a list of lines, each a list.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FairQueue, type Place } from "../../src/effects/fair-queue.js";

class Model {
  lines: { key: string; items: number[] }[] = [];

  line(key: string) {
    let line = this.lines.find((each) => each.key === key);
    if (!line) this.lines.push((line = { key, items: [] }));
    return line;
  }

  take(): number | undefined {
    const line = this.lines.shift();
    const item = line?.items.shift();
    if (line && line.items.length > 0) this.lines.push(line);
    return item;
  }

  remove(item: number): boolean {
    for (const line of this.lines) {
      const at = line.items.indexOf(item);
      if (at < 0) continue;
      line.items.splice(at, 1);
      this.lines = this.lines.filter(({ items }) => items.length > 0);
      return true;
    }
    return false;
  }
}

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ op: fc.constant("push" as const), key: fc.constantFrom("a", "b", "c", "d") }),
  },
  { weight: 3, arbitrary: fc.record({ op: fc.constant("take" as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ op: fc.constant("putBack" as const), key: fc.constantFrom("a", "b", "c", "d") }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant("remove" as const), at: fc.nat(50) }) },
);

describe("a fair queue", () => {
  it("does what the model does (Q1, Q2)", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const queue = new FairQueue<number>();
        const model = new Model();
        const places: Place<number>[] = [];
        let next = 0;
        for (const each of steps) {
          if (each.op === "push") {
            model.line(each.key).items.push(next);
            places.push(queue.push(each.key, next++));
          } else if (each.op === "putBack") {
            model.line(each.key).items.unshift(next);
            places.push(queue.putBack(each.key, next++));
          } else if (each.op === "remove") {
            const place = places[each.at];
            if (place) expect(queue.remove(place)).toBe(model.remove(place.item));
          } else expect(queue.take()).toBe(model.take());
          expect(queue.size).toBe(model.lines.reduce((sum, { items }) => sum + items.length, 0));
          expect(queue.keys).toBe(model.lines.length);
        }
        const rest: number[] = [];
        for (let item = model.take(); item !== undefined; item = model.take()) rest.push(item);
        expect(queue.takeAll()).toEqual(rest);
        expect(queue.size).toBe(0);
      }),
      { numRuns: 1_000 },
    );
  });

  it("takes constant time for each of 100,000 items, also when they are removed from the middle (Q3)", () => {
    const queue = new FairQueue<number>();
    const places = Array.from({ length: 100_000 }, (_, n) => queue.push(n % 2 ? "odd" : "even", n));
    for (let n = 0; n < places.length; n += 3) queue.remove(places[n] as Place<number>);
    let left = 0;
    while (queue.take() !== undefined) left++;
    expect(left).toBe(places.length - Math.ceil(places.length / 3));
  });
});
