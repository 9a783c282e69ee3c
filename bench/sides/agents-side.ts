// Agents with their partitions in the host's thread, or in threads of their own, their model wherever they are.

import { defineConfig, lmdbStorage } from "heddle";
import { registerEffects, tenTurns } from "./agents-flows.js";
import { sideOf, type ThreadsSide } from "./threads-side.js";

const APP = new URL("./agents-flows.js", import.meta.url);

export function agentsSide(actors: number, partitions: number): ThreadsSide {
  return sideOf("agents", tenTurns, partitions, (directory) =>
    defineConfig({
      storage: lmdbStorage({ dir: directory, sync: "flush", partitions }),
      flows: [tenTurns],
      // A function cannot cross threads: they find it in the module.
      ...(actors === 0 ? { execution: { registerEffects } } : { workers: { actors, app: APP } }),
    }),
  );
}
