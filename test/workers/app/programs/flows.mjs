// The same for an app in the host's thread and one in partition threads.

import { defineFlow, flow$, tool$ } from "heddle";
import { z } from "zod";

const anything = z.unknown();
const tool = (id) => tool$({ id, name: id, description: id, inputSchema: anything, outputSchema: anything });
const calling = (id) =>
  defineFlow(flow$({ id, version: "1", inputSchema: anything, outputSchema: anything }), (ctx, input) =>
    ctx.execute(tool(id), input),
  );

export const echo = calling("echo");
export const hold = calling("hold");
