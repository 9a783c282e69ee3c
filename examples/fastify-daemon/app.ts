// App: heddle, composed. The one place that knows where the log is and what runs where.

import type { FastifyBaseLogger } from "fastify";
import { defineConfig, type HeddleApp, type HeddleConfig, lmdbStorage } from "heddle";
import { effects } from "./effects.js";
import { refunds } from "./flows.js";
import type { Options } from "./options.js";

export function createApp({ dataDir, threads }: Options, log: FastifyBaseLogger): HeddleApp {
  return defineConfig({
    storage: lmdbStorage({ dir: dataDir }),
    flows: [refunds],
    ...(threads ? IN_THREADS : IN_THIS_THREAD),
    observability: {
      onWarn: (message) => log.warn(message),
      onStorageError: (executionId, err) => log.error({ executionId, err }, "the log could not be written"),
    },
    // The service starts to listen when the log is open, and does not start at all when it cannot be opened.
    autostart: false,
  });
}

const IN_THIS_THREAD: Pick<HeddleConfig, "execution"> = {
  execution: {
    registerEffects: (registry) => {
      for (const [id, effect] of Object.entries(effects)) registry.register(id, effect);
    },
  },
};

/** This thread serves HTTP and nothing else. Functions cannot cross threads, so the threads are told what to load. */
const IN_THREADS: Pick<HeddleConfig, "workers"> = {
  workers: {
    actors: 1,
    app: new URL("./flows.js", import.meta.url),
    effects: { module: new URL("./effects.js", import.meta.url), maxThreads: 1 },
  },
};
