// The file that Piscina loads in the pool's threads, and no more of heddle: the rest comes by `import()`.
//
// Piscina tries `require` first, and where `require` takes ES modules, a thread that is ended while it links them aborts the
// whole process (Node 20, `v8::Module::IsGraphAsync`). `import()` links them where an end of the thread is only that.

import type { LaneTask } from "./pool/protocol.js" with { "resolution-mode": "import" };

/** Begun at once, so that a thread that waits for its first lane is ready for it. */
const loaded = import("./effects.worker.js");

module.exports = {
  openLane: async (task: LaneTask): Promise<void> => (await loaded).openLane(task),
};
