// Effects for the tests of the pool. `mark` is a file in which an invocation leaves a line when it begins: the only way to
// count invocations that survives the end of a thread.

import { appendFileSync } from "node:fs";
import { createRequire } from "node:module";
import { setTimeout as delay } from "node:timers/promises";
import { threadId } from "node:worker_threads";
import { fail, HeddleError, LlmEffect, ResumePayloadValidationError, ToolEffect } from "heddle";
import { z } from "zod";

const begin = ({ mark, name }) => mark && appendFileSync(mark, `${name}\n`);
const burn = (ms) => {
  const end = performance.now() + ms;
  while (performance.now() < end);
};
class TooManyRequests extends RangeError {
  name = "TooManyRequests";
  status = 429;
  retryAfterMs = 3_000;
}
const never = () => new Promise(() => {});
let underWay = 0;

const run = (effect) => new ToolEffect(effect);

export const effects = {
  echo: run((input) => input),
  echoLater: run(async (input) => input),
  thread: run(() => threadId),
  /** The files the thread has loaded by `require`. */
  required: run(() => Object.keys(createRequire(import.meta.url).cache)),
  /** Begins what lives in the thread, whether it has calls or not. */
  beatFromNowOn: run(({ mark }) => void setInterval(() => begin({ mark, name: "beat" }), 5)),
  /** Everything of the context that crosses. */
  context: run((_input, { signal, emit, ...rest }) => {
    const { executionId, workflowId, stepId, attempt, toolId, taskKind, idempotencyKey } = rest;
    return {
      executionId,
      workflowId,
      stepId,
      attempt,
      toolId,
      taskKind,
      idempotencyKey,
      isAborted: signal.aborted,
      canEmit: typeof emit,
    };
  }),
  sleep: run(async (input) => {
    begin(input);
    await delay(input.ms);
    return input.value;
  }),
  burn: run((input) => {
    begin(input);
    burn(input.ms);
    return input.value;
  }),
  /** How many of these were under way at the most. */
  crowd: run(async ({ ms }) => {
    underWay++;
    const seen = underWay;
    await delay(ms);
    underWay--;
    return seen;
  }),
  emitting: run((input, ctx) => {
    const { emit } = ctx;
    for (const n of input.values) emit("progress", n);
    if (input.burnMs) {
      burn(input.burnMs);
      emit("late", 0);
      burn(input.burnMs);
    }
    try {
      emit("EXECUTION_COMPLETED", 1);
    } catch (error) {
      return error.code;
    }
    return "not refused";
  }),
  emittingAfter: run((_input, { emit }) => {
    setTimeout(() => emit("too-late", 1), 5);
    return "done";
  }),
  emittingFunction: run((_input, { emit }) => emit("odd", { deep: { cb() {} } })),
  /** Ends when its signal is aborted, with the reason. */
  obedient: run(async (input, { signal }) => {
    begin(input);
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    begin({ ...input, name: `aborted ${signal.reason?.code ?? signal.reason?.message ?? signal.reason}` });
    throw signal.reason;
  }),
  deaf: run((input) => {
    begin(input);
    return never();
  }),
  stuck: run((input) => {
    begin(input);
    for (;;);
  }),
  throwing: run(({ how }) => {
    if (how === "string") throw "just text";
    if (how === "subclass")
      throw new TooManyRequests("slow down", { cause: new Error("upstream", { cause: { deep: 1 } }) });
    if (how === "heddle")
      throw new HeddleError("STORAGE_FAILED", "disk", {
        details: { disk: 1 },
        cause: new HeddleError("GATE_NOT_OPEN", "why"),
      });
    if (how === "channel") fail("soldOut", { left: 0 });
    if (how === "validation")
      throw new ResumePayloadValidationError("bad", [{ path: "a", message: "b" }], {});
    if (how === "function") throw Object.assign(new Error("with a function"), { fn() {}, kept: 1 });
    return Promise.reject(new TypeError("later"));
  }),
  unrecordable: run(() => ({ rows: [1, { cb() {} }] })),
  /** Ways to take the thread down. */
  exit: run((input) => {
    begin(input);
    process.exit(input.code ?? 3);
  }),
  burnAndExit: run((input) => {
    begin(input);
    burn(input.ms);
    process.exit(3);
  }),
  exitLater: run(async (input) => {
    begin(input);
    await delay(input.ms ?? 5);
    process.exit(3);
  }),
  exitAfterAwait: run(async (input) => {
    begin(input);
    await null;
    await null;
    process.exit(3);
  }),
  exitOnce: run((input, { attempt }) => {
    begin(input);
    if (attempt === 1) process.exit(3);
    return "recovered";
  }),
  throwInTimer: run((input) => {
    begin(input);
    setTimeout(() => {
      throw new RangeError("from a timer");
    }, input.ms ?? 5);
    return never();
  }),
  rejectLoose: run((input) => {
    begin(input);
    void Promise.reject(new RangeError("nobody handles this"));
    return "returned";
  }),
  rejectLooseLater: run(async (input) => {
    begin(input);
    setTimeout(() => void Promise.reject(new RangeError("nobody handles this")), 5);
    return never();
  }),
  reallyExit: run((input) => {
    begin(input);
    setTimeout(() => process.reallyExit(7), 25);
    return never();
  }),
  hoard: run((input) => {
    begin(input);
    const hoard = [];
    for (;;) hoard.push(Array.from({ length: 10_000 }, () => ({ n: Math.random() })));
  }),
  /** A promise of somebody else's making that calls back twice. */
  twice: run(() => ({
    then(resolve) {
      resolve("first");
      resolve("second");
    },
  })),
  model: new LlmEffect(() => "hello", { errors: { refusal: z.object({ why: z.string() }) } }),
  placed: Object.assign(
    run(() => 1),
    { placement: "inline" },
  ),
};
