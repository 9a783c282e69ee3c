// Heddle with its partitions in the host's thread, or in threads of their own.

import { defineConfig, lmdbStorage } from "heddle";
import { orderOf, type Place, type Session } from "../harness/side.js";
import { placeOf } from "./heddle.js";
import { nothing, type Work, working } from "./threads-flows.js";

export interface ThreadsSide {
  readonly name: string;
  open(directory: string): Promise<ThreadsSession>;
}

/** Like any session, over a log in several environments. */
export interface ThreadsSession extends Omit<Session, "place"> {
  readonly places: readonly Place[];
}

const APP = new URL("./threads-flows.js", import.meta.url);

export function threadsSide(actors: number, partitions: number, work: Work, name: string): ThreadsSide {
  const flow = work === "nothing" ? nothing : working;
  return {
    name,
    async open(directory) {
      const app = defineConfig({
        storage: lmdbStorage({ dir: directory, sync: "flush", partitions }),
        flows: [nothing, working],
        workers: { actors, app: APP },
      });
      await app.start();
      const ids: string[] = [];
      return {
        places: Array.from({ length: partitions }, (_, n) => placeOf(directory, n)),
        async run(n) {
          const handle = await app.runtime.start(flow, orderOf(n));
          ids[n] = handle.executionId;
          return handle.result();
        },
        recorded: async (n) => (await app.runtime.loadState(ids[n] ?? "")).variables["_output"],
        close: () => app.close(),
      };
    },
  };
}
