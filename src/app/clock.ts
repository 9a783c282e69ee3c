// The real clock and the real randomness: the only place where either enters heddle.

import { randomFillSync, randomUUID } from "node:crypto";
import type { Clock, Entropy, FillRandom } from "../kernel/index.js";

/** Time of the host. `now` may be replaced, timers then still count real milliseconds. */
export function systemClock(now: () => number = Date.now): Clock {
  return {
    now,
    after: (delayMs, callback) => {
      const timer = setTimeout(callback, delayMs);
      return () => clearTimeout(timer);
    },
    soon: (callback) => void setImmediate(callback),
  };
}

export const systemEntropy: Entropy = { random: Math.random, uuid: randomUUID };

export const fillRandom: FillRandom = (bytes) => randomFillSync(bytes);
