// Effects that cost next to nothing to load, for tests that go through a thousand threads: they are written out, and nothing
// of heddle is imported. Whatever one does leaves a line in a file: the only count that survives its thread.

import { appendFileSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { threadId } from "node:worker_threads";

const note = ({ file }, what, { executionId, stepId, attempt, idempotencyKey }) =>
  appendFileSync(file, `${what} ${executionId} ${stepId} ${attempt} ${idempotencyKey}\n`);
const linesIn = (file) => readFileSync(file, "utf8").split("\n").filter(Boolean).length;
const tool = (execute) => ({ kind: "tool", execute });

export const effects = {
  /** Waits for the world in between, so that others may share its thread. */
  work: tool(async (input, ctx) => {
    note(input, "begin", ctx);
    await delay(input.ms);
    note(input, "end", ctx);
    return input.value;
  }),
  exitsOnce: tool((input, ctx) => {
    note(input, "begin", ctx);
    if (ctx.attempt === 1) process.exit(3);
    note(input, "end", ctx);
    return "recovered";
  }),
  /** Ends when as many calls of it are under way as are expected: where they share no thread, in as many threads. */
  meet: tool(async ({ file, expected }) => {
    appendFileSync(file, `${threadId}\n`);
    while (linesIn(file) < expected) await delay(1);
    return threadId;
  }),
};
