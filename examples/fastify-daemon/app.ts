// App: heddle, composed. The one place that knows where the log is and what runs.

import type { FastifyBaseLogger } from "fastify";
import { defineConfig, type HeddleApp, lmdbStorage } from "heddle";
import { effects } from "./effects.js";
import { refunds } from "./flows.js";

export function createApp(dir: string, log: FastifyBaseLogger): HeddleApp {
  return defineConfig({
    storage: lmdbStorage({ dir }),
    flows: [refunds],
    execution: {
      registerEffects: (registry) => {
        for (const [id, effect] of Object.entries(effects)) registry.register(id, effect);
      },
    },
    observability: {
      onWarn: (message) => log.warn(message),
      onStorageError: (executionId, err) => log.error({ executionId, err }, "the log could not be written"),
    },
    // The service starts to listen when the log is open, and does not start at all when it cannot be opened.
    autostart: false,
  });
}
