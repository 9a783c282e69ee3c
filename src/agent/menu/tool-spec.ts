// Specs: a tool as a model is told of it.

import { z } from "zod";
import { invalidOption, type ToolDefinition } from "../../kernel/index.js";
import type { LlmToolSpec } from "../../llm/index.js";
import { isThirdParty, vouchedDescription, WITHHELD, withoutProse } from "./third-party.js";

type JsonSchema = LlmToolSpec["inputSchema"];

/** Definitions are frozen, so what follows from one is worked out once. */
const ofZod = new WeakMap<ToolDefinition, JsonSchema>();
const ofThirdParty = new WeakMap<ToolDefinition, JsonSchema>();

/**
 * @param name what the model is to call it
 * @param trust whether the host vouches for what third parties say of their tools
 * @throws CONFIG_INVALID for an input schema that is none of an object
 */
export function specOf(tool: ToolDefinition, name: string, trust: boolean): LlmToolSpec {
  return {
    name,
    description: vouchedDescription(tool, trust) ?? WITHHELD,
    inputSchema: inputSchemaOf(tool, trust),
  };
}

function inputSchemaOf(tool: ToolDefinition, trust: boolean): JsonSchema {
  const { jsonInputSchema } = tool;
  if (jsonInputSchema && trust) return jsonInputSchema;
  // An input schema of zod was written here, whoever offers the tool; but it may have been made from theirs, texts and all.
  if (isThirdParty(tool) && !trust)
    return cached(ofThirdParty, tool, () => withoutProse(jsonInputSchema ?? fromZod(tool)));
  return cached(ofZod, tool, () => fromZod(tool));
}

function cached(
  schemas: WeakMap<ToolDefinition, JsonSchema>,
  tool: ToolDefinition,
  make: () => JsonSchema,
): JsonSchema {
  const schema = schemas.get(tool) ?? make();
  schemas.set(tool, schema);
  return schema;
}

function fromZod({ id, inputSchema }: ToolDefinition): JsonSchema {
  let made: JsonSchema;
  try {
    const { $schema: _, ...schema } = z.toJSONSchema(inputSchema, { io: "input", unrepresentable: "any" });
    made = schema;
  } catch (error) {
    throw invalidOption(
      `tool ${id}: inputSchema`,
      "cannot be told as a JSON schema: give the tool a jsonInputSchema",
      error,
    );
  }
  // A schema that accepts more than objects accepts objects; arguments of a call are always one.
  if (made["type"] === undefined) return { type: "object", ...made };
  if (made["type"] === "object") return made;
  throw invalidOption(
    `tool ${id}: inputSchema`,
    `must be of an object, for models give arguments by name, and not of ${JSON.stringify(made["type"])}`,
  );
}
