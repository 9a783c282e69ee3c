// The module of the pool: a model that has everything at hand and never ends, a short effect, and something that lives in the thread.

import { ToolEffect } from "heddle";
import { createAgentModelEffect } from "heddle/agent";

let ticks = 0;
setInterval(() => {
  ticks++;
}, 1).unref();

const endless = {
  id: "endless",
  capabilities: { streaming: true },
  complete: () => Promise.reject(new Error("It was to stream.")),
  async *stream() {
    for (;;) yield { type: "text", delta: "word " };
  },
};

export const effects = {
  model: createAgentModelEffect(endless, { stream: true }),
  ticks: new ToolEffect(() => ticks),
};
