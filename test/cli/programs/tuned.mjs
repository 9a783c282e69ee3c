// Effects to tune: one that computes, one that waits, one that does both, and some that go wrong. `mark` is a file in which
// an invocation leaves a line.

import { appendFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { HeddleError, ToolEffect } from "heddle";

const burn = (ms) => {
  const end = performance.now() + ms;
  while (performance.now() < end);
};
const run = (effect) => new ToolEffect(effect);
const nap = new Int32Array(new SharedArrayBuffer(4));
let underWay = 0;

export const effects = {
  compute: run(() => burn(5)),
  wait: run(() => delay(20)),
  both: run(async () => {
    burn(2);
    await delay(10);
  }),
  /** Waits, and does not let its thread go. */
  block: run(() => void Atomics.wait(nap, 0, 0, 10)),
  trivial: run((input) => input),
  marking: run(({ mark, name }, { idempotencyKey }) => {
    appendFileSync(mark, `${name} ${idempotencyKey}\n`);
  }),
  failing: run(() => {
    throw new HeddleError("INPUT_INVALID", "the picture is no picture\nand more about it");
  }),
  picky: run(({ isGood }) => {
    if (!isGood) throw new RangeError("not this one");
  }),
  /** Takes no more than eight calls at a time, as a service with a limit does. */
  limited: run(async () => {
    underWay += 1;
    try {
      if (underWay > 8) throw new Error("429 too many requests");
      await delay(20);
    } finally {
      underWay -= 1;
    }
  }),
  noisy: run(() => process.stdout.write("noise\n")),
  stuck: run(() => new Promise(() => {})),
  exiting: run(() => process.exit(3)),
  inline: new ToolEffect(() => {}, { placement: "inline" }),
};
