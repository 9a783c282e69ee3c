// The effects that the cases of the pool suite call. A module of its own, because workers load it: it exports them as `effects`, as
// the module of `workers.effects` does.

import { appendFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { type Effect, type EffectContext, fail, ToolEffect } from "../../effects/index.js";
import { HeddleError, type Schema } from "../../kernel/index.js";

/** As much of a schema as is asked of one. The library comes with the program that defines schemas, never with heddle alone. */
const soldOut = {
  safeParse: (data: unknown) =>
    typeof (data as { left?: unknown } | undefined)?.left === "number"
      ? { success: true, data }
      : { success: false, error: { issues: [{ path: ["left"], message: "expected number" }] } },
} as unknown as Schema<{ left: number }>;

interface Marking {
  readonly file: string;
  /** What its marks say it is. */
  readonly name?: string;
}

type Waiting = Marking & { readonly ms: number };

function mark({ file, name = "" }: Marking, what: string): void {
  appendFileSync(file, `${what} ${name}`.trim().concat("\n"));
}

class TooManyRequests extends RangeError {
  override readonly name = "TooManyRequests";
  readonly status = 429;
  readonly retryAfterMs = 3_000;
}

const WAYS_TO_FAIL: Readonly<Record<string, () => unknown>> = {
  ownClass: () => {
    throw new TooManyRequests("slow down", { cause: new TypeError("upstream") });
  },
  coded: () => {
    throw new HeddleError("INPUT_INVALID", "this input never will do", { details: { field: "amount" } });
  },
  text: () => {
    // oxlint-disable-next-line typescript/only-throw-error -- programs do
    throw "just text";
  },
  later: () => Promise.reject(new TypeError("later")),
  declared: () => fail("soldOut", { left: 0 }),
  undeclared: () => fail("other", { left: 0 }),
  badPayload: () => fail("soldOut", { left: "none" }),
};

const EFFECTS = {
  echo: new ToolEffect((input: unknown) => input),
  context: new ToolEffect((_input, ctx: EffectContext) => {
    const { executionId, workflowId, stepId, attempt, toolId, taskKind, idempotencyKey, signal } = ctx;
    const isAborted = signal.aborted;
    return { executionId, workflowId, stepId, attempt, toolId, taskKind, idempotencyKey, isAborted };
  }),
  waits: new ToolEffect(async ({ ms, value }: { readonly ms: number; readonly value?: unknown }) => {
    await delay(ms);
    return value;
  }),
  /** A promise of somebody else's making that calls back twice. */
  twice: new ToolEffect(() => ({
    // oxlint-disable-next-line unicorn/no-thenable -- that is what this is about
    then(resolve: (value: unknown) => void) {
      resolve("first");
      resolve("second");
    },
  })),
  /** Does to its input what it likes. */
  spoils: new ToolEffect((input: { readonly list: unknown[]; readonly bytes: Uint8Array }) => {
    const before = [...input.list];
    input.list.push("spoiled");
    input.bytes.fill(0);
    return before;
  }),
  /** Goes on changing what it returned. */
  keeps: new ToolEffect(() => {
    const result = { list: [1] };
    setImmediate(() => result.list.push(2));
    return result;
  }),
  unrecordable: new ToolEffect(() => ({ rows: [1, { cb() {} }] })),
  fails: new ToolEffect(({ how }: { readonly how: string }) => WAYS_TO_FAIL[how]?.(), {
    errors: { soldOut },
  }),
  emits: new ToolEffect(async ({ values }: { readonly values: readonly unknown[] }, { emit }) => {
    for (const value of values) {
      emit("progress", value);
      await delay(1);
    }
  }),
  /** Ends as soon as its signal is aborted, with the reason. */
  obeys: new ToolEffect(async (input: Marking, { signal }) => {
    mark(input, "begun");
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    const { code, message } = signal.reason as HeddleError;
    mark(input, `aborted ${code ?? message}`);
    throw signal.reason;
  }),
  /** Goes on for so long, whatever it is told. */
  deaf: new ToolEffect(async (input: Waiting) => {
    mark(input, "begun");
    await delay(input.ms);
    mark(input, "done");
    return "done";
  }),
  /** Takes its worker down. */
  exits: new ToolEffect((input: Marking) => {
    mark(input, "begun");
    process.exit(3);
  }),
};

export const poolEffects: Readonly<Record<string, Effect>> = EFFECTS;
export { poolEffects as effects };
