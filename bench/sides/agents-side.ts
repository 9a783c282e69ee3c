// Agents with their partitions in the host's thread, or in threads of their own, their model wherever they are.

import { defineConfig, lmdbStorage } from "heddle";
import { orderOf } from "../harness/side.js";
import { registerEffects, tenTurns } from "./agents-flows.js";
import { placeOf } from "./heddle.js";
import type { ThreadsSide } from "./threads-side.js";

const APP = new URL("./agents-flows.js", import.meta.url);

export function agentsSide(actors: number, partitions: number): ThreadsSide {
  return {
    name: "agents",
    async open(directory) {
      const app = defineConfig({
        storage: lmdbStorage({ dir: directory, sync: "flush", partitions }),
        flows: [tenTurns],
        // A function cannot cross threads: they find it in the module.
        ...(actors === 0 ? { execution: { registerEffects } } : { workers: { actors, app: APP } }),
      });
      await app.start();
      const ids: string[] = [];
      return {
        places: Array.from({ length: partitions }, (_, n) => placeOf(directory, n)),
        async run(n) {
          const handle = await app.runtime.start(tenTurns, orderOf(n));
          ids[n] = handle.executionId;
          return handle.result();
        },
        recorded: async (n) => (await app.runtime.loadState(ids[n] ?? "")).variables["_output"],
        close: () => app.close(),
      };
    },
  };
}
