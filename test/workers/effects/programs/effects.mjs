// The module of the pool. Whatever an effect does leaves a line in a file: the only count that survives its thread.

import { appendFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { fail, ToolEffect } from "heddle";
import { z } from "zod";

const note = ({ file }, what, { executionId, stepId, attempt, idempotencyKey }) =>
  file && appendFileSync(file, `${what} ${executionId} ${stepId} ${attempt} ${idempotencyKey}\n`);
const exitsOnce = (input, ctx) => {
  note(input, "begin", ctx);
  if (ctx.attempt === 1) process.exit(3);
  note(input, "end", ctx);
  return "recovered";
};

export const effects = {
  echo: new ToolEffect((input, ctx) => {
    note(input ?? {}, "echo", ctx);
    return input;
  }),
  /** Waits for the world in between, so that others may share its thread. */
  work: new ToolEffect(async (input, ctx) => {
    note(input, "begin", ctx);
    await delay(input.ms);
    note(input, "end", ctx);
    return input.value;
  }),
  exitsOnce: new ToolEffect(exitsOnce),
  /** The same, and nobody knows whether it may be done again. */
  pays: new ToolEffect(exitsOnce, { idempotent: false }),
  exitsAlways: new ToolEffect((input, ctx) => {
    note(input, "begin", ctx);
    process.exit(3);
  }),
  /** Fails like the world does, the first time. */
  failsOnce: new ToolEffect((input, ctx) => {
    note(input, "begin", ctx);
    if (ctx.attempt === 1) throw new RangeError("not now");
    return input.value;
  }),
  sells: new ToolEffect(({ left }) => fail("soldOut", { left }), {
    errors: { soldOut: z.object({ left: z.number() }) },
  }),
  sellsBadly: new ToolEffect(({ channel }) => fail(channel, { left: "none" }), {
    errors: { soldOut: z.object({ left: z.number() }) },
  }),
  emits: new ToolEffect(async ({ values }, { emit }) => {
    for (const value of values) {
      emit("stock.counted", value);
      await null;
    }
    try {
      emit("EXECUTION_COMPLETED", 0);
    } catch (error) {
      return error.code;
    }
    return "not refused";
  }),
  unsendable: new ToolEffect(() => ({ rows: [1, { cb() {} }] })),
  obeys: new ToolEffect(async (input, ctx) => {
    note(input, "begin", ctx);
    await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve, { once: true }));
    note(input, `aborted:${ctx.signal.reason?.code}`, ctx);
    throw ctx.signal.reason;
  }),
  /** Says what it has when it is told to stop. */
  yields: new ToolEffect(
    async (input, ctx) => {
      note(input, "begin", ctx);
      await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve, { once: true }));
      return fail("interrupted", { content: input.content });
    },
    { errors: { interrupted: z.object({ content: z.string() }) } },
  ),
  /** Hears that it is to stop, and does its work all the same. */
  deaf: new ToolEffect(async (input, ctx) => {
    note(input, "begin", ctx);
    await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve, { once: true }));
    if (input.fails) throw new RangeError("in vain");
    return "done";
  }),
};
