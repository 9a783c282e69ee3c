// Heddle with its partitions in the host's thread, or in threads of their own.

import { defineConfig, type HeddleApp, lmdbStorage, type RegisteredFlow } from "heddle";
import { type Order, orderOf, type Place, type Receipt, type Session } from "../harness/side.js";
import { placeOf } from "./heddle.js";
import { flowOf, type Work } from "./threads-flows.js";

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
  const flow = flowOf(work);
  return sideOf(name, flow, partitions, (directory) =>
    defineConfig({
      storage: lmdbStorage({ dir: directory, sync: "flush", partitions }),
      flows: [flow],
      workers: { actors, app: APP },
    }),
  );
}

/** Executions of one flow, in the app that `configure` makes. */
export function sideOf(
  name: string,
  flow: RegisteredFlow<Order, Receipt>,
  partitions: number,
  configure: (directory: string) => HeddleApp,
): ThreadsSide {
  return {
    name,
    async open(directory) {
      const app = configure(directory);
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
