// Tasks: what `step$`, `handler$` and `tool$` return. Plain frozen data with the functions a user gave; nothing runs here.

import type { z } from "zod";
import { BACKOFF_OPTIONS, checkRetryOptions } from "./backoff.js";
import { HeddleError } from "./errors.js";
import type { TaskKind } from "./events.js";
import { checkId } from "./ids.js";
import { checkSchema, type Schema } from "./schema.js";
import { checkTerms } from "./terms.js";

/** What a step's handler and an effect get beside their input. */
export interface StepHandlerContext {
  readonly executionId: string;
  readonly workflowId: string;
  readonly stepId: string;
  /** 1 for the first attempt; higher after a failure or a crash. */
  readonly attempt: number;
  /** The same for every attempt of one issue of this step: hand it to systems that can drop duplicates. */
  readonly idempotencyKey: string;
  /** Aborted when the execution is cancelled, the attempt times out, or the runtime closes. */
  readonly signal: AbortSignal;
  /** Records a domain event in the execution's log. Usable detached from its context. */
  readonly emit: (eventType: string, payload: unknown) => void;
  /**
   * Says what the call has used beyond what it said before: reports add up. Usable detached from its context; outside of
   * executions it does nothing.
   *
   * @throws INPUT_INVALID for what is no number of at least 0
   */
  readonly meter: (usage: UsageReport) => void;
}

/** What a call has used, as far as it knows. */
export interface UsageReport {
  readonly tokens?: number | undefined;
  /** In whatever one currency the program counts in. */
  readonly cost?: number | undefined;
}

/**
 * Logic that lives with its step. Runs in the thread of the flow. Written as a method's type, so that a handler of a
 * narrow input fits where steps of any input are listed.
 */
export type Handler<TIn, TOut> = {
  method(input: TIn, ctx: StepHandlerContext): TOut | Promise<TOut>;
}["method"];

/** Gives a handler the types of its step: input and result follow from the step's schemas. */
export function handler$<TIn, TOut>(
  handler: (input: TIn, ctx: StepHandlerContext) => TOut | Promise<TOut>,
): Handler<TIn, TOut> {
  return handler;
}

/** When and how often a failed attempt is repeated. */
export interface RetryPolicy {
  /** Attempts in all, the first included. Default 1: no retry. */
  readonly maxAttempts?: number;
  /** Before the second attempt. Default 200 ms. */
  readonly baseDelayMs?: number;
  /** Each further delay is this many times the one before. Default 2. */
  readonly factor?: number;
  /** No delay is longer. Default 30,000 ms. A failure that asks for a later retry gets it all the same. */
  readonly maxDelayMs?: number;
  /** Takes up to half off each delay, so that what failed together does not come back together. Default false. */
  readonly jitter?: boolean;
}

/** Declared failure channels and the schemas of their payloads. */
export type FailureChannels = Readonly<Record<string, z.ZodType>>;

/** "journaled": only in an execution. "ambient": only outside, by `invokeTransient`, which leaves no trace in any log. */
export type ToolMode = "journaled" | "ambient";

/** Written as a method's type, as `Handler` is and for the same reason. */
type Expansion<TIn> = { method(recorded: TIn): unknown }["method"];

/** Anything `ctx.execute` can run. Without a handler it names, by `toolId` or else by `id`, a registered effect. */
export interface ExecutableTask<TIn = unknown, TOut = unknown> {
  readonly id: string;
  readonly name?: string;
  readonly kind?: TaskKind;
  readonly inputSchema?: Schema<TIn>;
  readonly outputSchema?: Schema<TOut>;
  readonly handler?: Handler<TIn, TOut>;
  readonly toolId?: string;
  readonly retry?: RetryPolicy;
  /** For one attempt, counted from its start. */
  readonly timeoutMs?: number;
  /**
   * For the step, all its attempts and the waits between them, counted from when it is requested; a restart does not begin
   * anew. Then it fails with EFFECT_DEADLINE_EXCEEDED. Default: none.
   */
  readonly deadlineMs?: number;
  readonly errors?: FailureChannels;
  /**
   * False: after a crash or the loss of its thread nobody can know whether it did its work, and it may not do it twice. The
   * execution then parks at EFFECT_INDOUBT until `resolveInDoubt` says what happened. Default: what the effect says, or true.
   */
  readonly idempotent?: boolean;
  /** On which side of the log the task belongs. An ambient one is refused here. Undeclared: both. */
  readonly mode?: ToolMode;
  /**
   * Where the recorded input names more than it holds: makes of it what the effect, and the ring around it, are given. Called
   * in the flow's thread for each attempt, never for a step that is settled in the log; what it throws fails the attempt. It has
   * to make the same of the same input, after a restart too. The schema is about the recorded input.
   */
  readonly expand?: Expansion<TIn>;
  /**
   * Aborted: this step alone is stopped. Before its attempt has begun, it fails with STEP_STOPPED. While it runs, the signal the
   * effect has is aborted, and what the effect comes to then is the outcome: a result, a failure on a channel, or STEP_STOPPED
   * where it throws the signal's reason. It has 5 seconds for that; after them the step fails with STEP_STOPPED, and waits for a
   * verdict instead where it may not be repeated. No further attempt is made. It is not recorded: a restarted program hands
   * over a new one.
   */
  readonly signal?: AbortSignal;
}

export interface StepDefinition<TIn = unknown, TOut = unknown> extends ExecutableTask<TIn, TOut> {
  readonly name: string;
  readonly inputSchema: Schema<TIn>;
  readonly outputSchema: Schema<TOut>;
}

/** What `step$` takes: a step, with a name that defaults to its id. */
export interface StepOptions<TIn, TOut> extends Omit<StepDefinition<TIn, TOut>, "name" | "kind"> {
  readonly name?: string;
}

/** A unit of work: its id is unique within the flow, its result is recorded once. */
export function step$<TIn, TOut>(options: StepOptions<TIn, TOut>): StepDefinition<TIn, TOut> {
  checkId("step id", options.id);
  checkTask(`step ${options.id}`, options);
  return Object.freeze({ ...options, name: options.name ?? options.id });
}

/** Refuses what makes no sense in a task of any kind. */
export function checkTask(owner: string, task: ExecutableTask): void {
  const { inputSchema, outputSchema, handler, retry, timeoutMs, deadlineMs, expand, signal } = task;
  checkSchema(owner, "inputSchema", inputSchema);
  checkSchema(owner, "outputSchema", outputSchema);
  checkRetry(owner, retry);
  checkDuration("CONFIG_INVALID", `${owner}: timeoutMs`, timeoutMs);
  checkDuration("CONFIG_INVALID", `${owner}: deadlineMs`, deadlineMs);
  if (handler !== undefined && typeof handler !== "function")
    throw new HeddleError("CONFIG_INVALID", `${owner}: handler must be a function, as handler$ gives it.`);
  if (expand !== undefined && typeof expand !== "function")
    throw new HeddleError("CONFIG_INVALID", `${owner}: expand must be a function of the recorded input.`);
  if (signal !== undefined && !(signal instanceof AbortSignal))
    throw new HeddleError("CONFIG_INVALID", `${owner}: signal must be an AbortSignal.`);
  checkTerms(owner, task);
}

function checkRetry(owner: string, retry: RetryPolicy | undefined): void {
  if (retry === undefined) return;
  if (typeof retry !== "object" || retry === null)
    throw new HeddleError("CONFIG_INVALID", `${owner}: retry must be an object, as { maxAttempts: 3 }.`);
  checkRetryOptions(`${owner}: retry.`, retry, RETRY_OPTIONS);
}

const RETRY_OPTIONS = { maxAttempts: 1, ...BACKOFF_OPTIONS };

/** Far enough off, and what it leads to is a date for a thousand years. */
const LONGEST_DURATION_MS = 8.6e15;

/** Refuses what is no positive number of milliseconds. */
export function checkDuration(
  code: "CONFIG_INVALID" | "INPUT_INVALID",
  field: string,
  durationMs: number | undefined,
): void {
  if (durationMs === undefined) return;
  if (typeof durationMs === "number" && durationMs > 0 && durationMs <= LONGEST_DURATION_MS) return;
  throw new HeddleError(
    code,
    `${field} must be a positive number of milliseconds, not ${String(durationMs)}.`,
  );
}
