import { defineFlow, flow$, handler$, step$ } from "heddle";
import { z } from "zod";

const Input = z.object({ n: z.number() });
const step = step$({
  id: "double",
  inputSchema: Input,
  outputSchema: z.number(),
  handler: handler$(({ n }: { readonly n: number }) => n * 2),
});
export const double = defineFlow(
  flow$({ id: "double", version: "1", inputSchema: Input, outputSchema: z.number() }),
  async (ctx, input) => {
    const doubled: number = await ctx.run(step, input);
    return doubled;
  },
);
