// Targets: what was promised of which row. At least for a rate, at most for a time or a size.

import type { Target } from "../harness/report.js";

const AGENT_LOG: Target = { ratio: 1.5 };
const HOST_DELAY: Target = { median: 5 };
const COLD_RESUME: Target = { median: 0.25 };
const ALONE: Target = { ratio: 1.3 };
const RING: Target = { ratio: 0.75 };

export const TARGETS: ReadonlyMap<string, Target> = new Map([
  ["one-step/flush/1000", { ratio: 0.6 }],
  ["one-step/commit/1000", { ratio: 0.5 }],
  ["ten-steps/flush/1000", { ratio: 0.6 }],
  ["alone/flush", ALONE],
  ["alone/commit", ALONE],
  ["cold-resume/flush", COLD_RESUME],
  ["cold-resume/commit", COLD_RESUME],
  ["cold-resume/commit/snapshot", COLD_RESUME],
  ["ring/flush/1000", RING],
  ["ring/commit/1000", RING],
  ["pool/trivial/1000", { ratio: 10 }],
  ["pool/alone", { ratio: 1.3 }],
  ["threads/cpu/2", { ratio: 1.3 }],
  ["host-delay/1", HOST_DELAY],
  // Three million a second, or half of what the language itself does, whichever is less.
  ["transient/1", { ratio: 0.5, median: 3_000_000 }],
  ["open/100000-parked", { median: 1_000 }],
  ["open/100000-parked/memory", { ratio: 1.2 }],
  ["steps/25000", { ratio: 1.2 }],
  ["memory/hot", { median: 4_096 }],
  // Nothing, but a collection leaves some bytes more or less.
  ["memory/parked", { median: 40 }],
  ["agent-growth/bytes/50", AGENT_LOG],
  ["agent-growth/bytes/200", AGENT_LOG],
  ["agent-growth/bytes/650", AGENT_LOG],
  ["agent-growth/bytes/2000", AGENT_LOG],
  ["agent-growth/turn/650", { ratio: 1.2 }],
  ["agent-growth/turn/2000", { ratio: 1.3 }],
  ["agents/flush/0", { median: 10_000 }],
  ["agents/host-delay/1", { median: 20 }],
]);
