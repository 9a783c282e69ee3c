// Flows: a declarative half (`flow$`) and an imperative half (the runner), bound by `defineFlow`.

import type { z } from "zod";
import type { ExecutionContext } from "./context.js";
import { HeddleError } from "./errors.js";
import { checkId } from "./ids.js";
import { checkPolicies, type PolicyDefinition } from "./policy.js";
import { checkSchema, checkSchemas, type Schema } from "./schema.js";
import { checkDuration } from "./task.js";

/** A step as a flow lists it, whatever its types. */
export interface ListedStep {
  readonly id: string;
  readonly name?: string;
}

export interface FlowDefinition<TIn = unknown, TOut = unknown> {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly inputSchema: Schema<TIn>;
  readonly outputSchema: Schema<TOut>;
  readonly steps: readonly ListedStep[];
  /** What each gate delivers; `resume` parses its payload before anything is recorded. */
  readonly resumeSchemas?: Readonly<Record<string, z.ZodType>>;
  /** What its effects may be at most, whatever anybody is granted. */
  readonly policies?: readonly PolicyDefinition[];
  /**
   * An execution that has not ended so many milliseconds after it began is cancelled, with the code DEADLINE_EXCEEDED; a
   * restart does not begin anew. `start` may say otherwise. Default: none.
   */
  readonly deadlineMs?: number;
}

export interface FlowOptions<TIn, TOut> extends Omit<FlowDefinition<TIn, TOut>, "name" | "steps"> {
  readonly name?: string;
  readonly steps?: readonly ListedStep[];
}

/** A flow's declarative half: identity, schemas and steps. */
export function flow$<TIn, TOut>(options: FlowOptions<TIn, TOut>): FlowDefinition<TIn, TOut> {
  checkId("flow id", options.id);
  checkId(`version of flow ${options.id}`, options.version);
  checkSchema(`flow ${options.id}`, "inputSchema", options.inputSchema);
  checkSchema(`flow ${options.id}`, "outputSchema", options.outputSchema);
  checkDuration("CONFIG_INVALID", `flow ${options.id}: deadlineMs`, options.deadlineMs);
  checkSchemas(`flow ${options.id}`, "resumeSchemas", options.resumeSchemas);
  checkPolicies(`flow ${options.id}`, options.policies);
  const listed: unknown = options.steps;
  if (listed !== undefined && !Array.isArray(listed))
    throw new HeddleError("CONFIG_INVALID", `flow ${options.id}: steps must be a list.`);
  const steps = options.steps ?? [];
  const seen = new Map<string, ListedStep>();
  for (const step of steps) {
    checkId(`step id in flow ${options.id}`, step.id);
    const other = seen.get(step.id);
    if (other !== undefined && other !== step) {
      throw new HeddleError(
        "DEFINITION_CONFLICT",
        `flow ${options.id} lists two different steps named ${step.id}; rename one.`,
      );
    }
    seen.set(step.id, step);
  }
  return Object.freeze({ ...options, name: options.name ?? options.id, steps });
}

/**
 * A flow's imperative half: plain async code over `ctx`, run again from the top on every replay. Declared as a method
 * type so that a runner of a narrow input fits where flows of any input are listed, without a cast.
 */
export type FlowRunner<TIn = unknown, TOut = unknown> = {
  method(ctx: ExecutionContext, input: TIn): Promise<TOut>;
}["method"];

export interface RegisteredFlow<TIn = unknown, TOut = unknown> {
  readonly definition: FlowDefinition<TIn, TOut>;
  readonly runner: FlowRunner<TIn, TOut>;
}

/** Binds a definition to its runner; input and output types follow from the schemas. */
export function defineFlow<TIn, TOut>(
  definition: FlowDefinition<TIn, TOut>,
  runner: (ctx: ExecutionContext, input: TIn) => Promise<TOut>,
): RegisteredFlow<TIn, TOut> {
  return Object.freeze({ definition, runner });
}

/** A module of flows, as code generation lists them: every exported registered flow is taken. */
export type FlowModule = Readonly<Record<string, unknown>>;
