// What the pool runs in a soak. One call in some takes its thread down with it, the first time it is tried; those beside it in the
// thread are innocent.

import { setTimeout as delay } from "node:timers/promises";
import { isMainThread } from "node:worker_threads";
import { count } from "../../crash/programs/counter.mjs";

export const effects = {
  crunch: {
    kind: "tool",
    async execute({ n, part }, ctx) {
      count("start", ctx);
      if (n % 7 === 0 && part === 1 && ctx.attempt === 1 && !isMainThread) process.exit(3);
      if (n % 5 === 0 && part === 2 && ctx.attempt === 1) throw new Error("not yet");
      await delay(n % 3);
      count("finish", ctx);
      return n * 100 + part;
    },
  },
};
