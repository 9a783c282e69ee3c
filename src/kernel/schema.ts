// Schemas: parsing at a boundary, and the words for what a schema refused.

import type { z } from "zod";
import { HeddleError, type ValidationIssue } from "./errors.js";

/** A schema whose parsed value has type `T`. */
export type Schema<T> = z.ZodType<T>;

/** Refuses, while a definition is built, what is no schema. */
export function checkSchema(owner: string, field: string, schema: unknown): void {
  if (typeof (schema as { safeParse?: unknown } | undefined)?.safeParse === "function") return;
  throw new HeddleError(
    "CONFIG_INVALID",
    `${owner}: ${field} must be a zod schema (z.unknown() accepts anything).`,
  );
}

/** Refuses what is no table of schemas by name. */
export function checkSchemas(owner: string, field: string, schemas: unknown): void {
  if (schemas === undefined) return;
  if (typeof schemas !== "object" || schemas === null)
    throw new HeddleError(
      "CONFIG_INVALID",
      `${owner}: ${field} must be an object with a zod schema for each name.`,
    );
  for (const [name, schema] of Object.entries(schemas)) checkSchema(owner, `${field}.${name}`, schema);
}

/**
 * The parsed value, or an error of `code` that names every issue. No schema accepts everything. `what` and `of` say
 * whose value it is ("input of step", its id); they are put together only when something is wrong.
 */
export function parseWith(
  schema: z.ZodType | undefined,
  value: unknown,
  code: "INPUT_INVALID" | "OUTPUT_INVALID",
  what: string,
  of: string,
): unknown {
  if (schema === undefined) return value;
  const parsed = parseSync(schema, value, what, of);
  if (parsed.success) return parsed.data;
  const issues = issuesOf(parsed.error);
  throw new HeddleError(code, `The ${what} ${of} does not satisfy its schema: ${describeIssues(issues)}.`, {
    details: { issues },
  });
}

/** What a step came to, as its schema has it. */
export function parseOutput(
  { id, outputSchema }: { readonly id: string; readonly outputSchema?: z.ZodType },
  value: unknown,
): unknown {
  return parseWith(outputSchema, value, "OUTPUT_INVALID", "result of step", id);
}

/** `safeParse`, with a word for schemas that can only be parsed asynchronously. */
export function parseSync(
  schema: z.ZodType,
  value: unknown,
  what: string,
  of: string,
): z.ZodSafeParseResult<unknown> {
  try {
    return schema.safeParse(value);
  } catch (error) {
    throw new HeddleError(
      "CONFIG_INVALID",
      `The schema for the ${what} ${of} threw. If it has asynchronous refinements or transforms: those are not supported, check inside a step instead.`,
      { cause: error },
    );
  }
}

export function issuesOf(error: z.ZodError): ValidationIssue[] {
  return error.issues.map((issue) => ({ path: issue.path.map(String).join("."), message: issue.message }));
}

export function describeIssues(issues: readonly ValidationIssue[]): string {
  return issues.map((issue) => (issue.path ? `${issue.path}: ${issue.message}` : issue.message)).join("; ");
}
