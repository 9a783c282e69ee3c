// Tools: contracts a model may be shown. Plain frozen data; what runs is the effect registered under a tool's id.

import { checkText, checkTexts } from "./definition.js";
import { invalidOption } from "./errors.js";
import { TASK_KINDS, type TaskKind } from "./events.js";
import { checkId } from "./ids.js";
import type { Schema } from "./schema.js";
import { isTainted, type Tainted } from "./taint.js";
import { checkTask, type ExecutableTask } from "./task.js";
import { checkOneOf } from "./terms.js";

/** Who wrote a tool. What a remote one says of itself is nothing anybody here vouches for. */
export type ToolOrigin = "local" | "remote";

export interface ToolDefinition<TIn = unknown, TOut = unknown> extends ExecutableTask<TIn, TOut> {
  readonly name: string;
  /** What it does, for a model that has to choose. Tainted where whoever offers the tool is not to be believed. */
  readonly description: string | Tainted<string>;
  /** "human": a person answers; the execution parks until somebody does. Default "tool". */
  readonly kind: TaskKind;
  readonly inputSchema: Schema<TIn>;
  readonly outputSchema: Schema<TOut>;
  /** Words for the things it is about, which searches look into. */
  readonly tags?: readonly string[];
  /** What people say when they want it ("bill the customer"), which searches look into. */
  readonly aliases?: readonly string[];
  /** Default "local". */
  readonly origin?: ToolOrigin;
  /** A JSON schema of the input for models, where `inputSchema` cannot tell it: of a tool that comes from elsewhere. */
  readonly jsonInputSchema?: Readonly<Record<string, unknown>>;
}

/** What `tool$` takes: a tool, with a name that defaults to its id. */
export interface ToolOptions<TIn, TOut> extends Omit<ToolDefinition<TIn, TOut>, "name" | "kind" | "handler"> {
  readonly name?: string;
  readonly kind?: TaskKind;
}

/**
 * A tool's contract. Metadata only: what runs is the effect registered under its id.
 *
 * @throws ID_INVALID or CONFIG_INVALID, naming the field
 */
export function tool$<TIn, TOut>(options: ToolOptions<TIn, TOut>): ToolDefinition<TIn, TOut> {
  checkId("tool id", options.id);
  const { id, name = id, kind = "tool", toolId = id, description } = options;
  const owner = `tool ${id}`;
  checkText(owner, "name", name);
  if (!isTainted(description)) checkText(owner, "description", description);
  checkTask(owner, options);
  checkOneOf(owner, "kind", kind, TASK_KINDS);
  checkTexts(owner, "tags", options.tags);
  checkTexts(owner, "aliases", options.aliases);
  checkOneOf(owner, "origin", options.origin, ["local", "remote"]);
  checkJsonSchema(owner, options.jsonInputSchema);
  return Object.freeze({ ...options, name, kind, toolId });
}

/** Whether a value is a tool, also one that other code put together. */
export function isToolDefinition(value: unknown): value is ToolDefinition {
  const { id, description, kind, inputSchema, handler } = (value ?? {}) as Partial<ToolDefinition>;
  return (
    typeof id === "string" &&
    (typeof description === "string" || isTainted(description)) &&
    typeof kind === "string" &&
    typeof inputSchema?.safeParse === "function" &&
    handler === undefined
  );
}

export const TOOLS = { is: isToolDefinition, made: "tool$" };

/** Models take arguments by name, so anything but a schema of an object is a mistake. */
function checkJsonSchema(owner: string, schema: unknown): void {
  if (schema === undefined) return;
  if (typeof schema === "object" && schema !== null && (schema as { type?: unknown }).type === "object")
    return;
  throw invalidOption(
    `${owner}: jsonInputSchema`,
    'must be a JSON schema of an object: { type: "object", ... }',
  );
}
