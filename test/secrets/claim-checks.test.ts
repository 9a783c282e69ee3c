// Claim checks and marks: content is put away as it is, so what may not be read stays in the log, where it is sealed.

import { Readable } from "node:stream";
import {
  defineConfig,
  defineFlow,
  flow$,
  isClaimCheck,
  lmdbStorage,
  sensitive,
  streamResult,
  ToolEffect,
  tool$,
} from "heddle";
import { expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { temporaryDirectory, within } from "../workers/partitions/world.js";

const PIN = "pin-of-ann-4711";
const filler = "x".repeat(10_000);
const stream = Readable.from([Buffer.from(filler), Buffer.from(PIN)]);

/** Runs one effect behind a claim check, with a marked input. */
async function outcomeOf(result: (pin: string) => unknown, outputSchema: z.ZodType) {
  const Pin = z.object({ pin: sensitive(z.string()) });
  const tool = tool$({
    id: "tool",
    name: "tool",
    description: "As its name says",
    inputSchema: Pin,
    outputSchema,
  });
  const flow = defineFlow(
    flow$({ id: "f", version: "1", inputSchema: Pin, outputSchema: z.unknown() }),
    async (ctx, input) => {
      try {
        return { given: await ctx.execute(tool, input) };
      } catch (error) {
        return { error };
      }
    },
  );
  const put: string[] = [];
  const app = defineConfig({
    storage: lmdbStorage({ dir: temporaryDirectory(), sync: "commit" }),
    flows: [flow],
    execution: {
      registerEffects: (effects) =>
        effects.register("tool", new ToolEffect(({ pin }: z.infer<typeof Pin>) => result(pin))),
      claimCheck: { toolIds: ["tool"], inlineCapBytes: 1_000, onOffload: ({ toolId }) => put.push(toolId) },
    },
    security: { sealingKey: new Uint8Array(32).fill(1) },
  });
  onTestFinished(() => app.close({ deadlineMs: 0 }));
  const handle = await app.runtime.start(flow, { pin: PIN }, { executionId: "x" });
  const given = await within(handle.result(), "result");
  return { given, put: put.length, shown: JSON.stringify(await app.stores.eventStore.read("x")) };
}

it("a large result is put away when nothing in it may not be read, though the input is marked", async () => {
  const { given, put } = await outcomeOf(() => filler, z.unknown());
  expect(isClaimCheck((given as { readonly given: unknown }).given)).toBe(true);
  expect(put).toBe(1);
});

it.each<[string, (pin: string) => unknown, z.ZodType]>([
  ["is marked", () => filler, sensitive(z.unknown())],
  ["holds a marked value of the input", (pin) => filler + pin, z.unknown()],
])("a large result that %s stays in the log, sealed", async (_what, result, outputSchema) => {
  const { given, put, shown } = await outcomeOf(result, outputSchema);
  expect(given).toEqual({ given: result(PIN) });
  expect(put).toBe(0);
  expect(shown).toContain('"output":"[sensitive]"');
  expect(shown).not.toContain(PIN);
});

it("a streamResult that is marked is refused, with what to do, and the stream is let go", async () => {
  const { given, put } = await outcomeOf(() => streamResult(stream), sensitive(z.unknown()));
  expect(given).toMatchObject({
    error: { code: "VALUE_NOT_RECORDABLE", message: expect.stringContaining("cannot be sealed") as unknown },
  });
  expect(put).toBe(0);
  expect(stream.destroyed).toBe(true);
});
