// Shared samples: taken once for all rows that look at them.

import type { Effort } from "./question.js";

export function shared<S>(take: (effort: Effort) => Promise<S>): (effort: Effort) => Promise<S> {
  const taken = new Map<Effort, Promise<S>>();
  return (effort) => {
    const samples = taken.get(effort) ?? take(effort);
    taken.set(effort, samples);
    return samples;
  };
}
