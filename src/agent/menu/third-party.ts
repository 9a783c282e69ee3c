// Third-party tools: what of their text anybody here vouches for. The rule is one for everything that is told of a tool: specs that
// models are shown, documents that rankers get, results of searches.

import { isTainted, type ToolDefinition } from "../../kernel/index.js";

/** What a model is told instead of a description nobody vouches for. */
export const WITHHELD = "Third-party tool; description withheld";

/** Whether somebody else wrote what the tool says of itself. */
export function isThirdParty({ origin, jsonInputSchema, kind }: ToolDefinition): boolean {
  return origin === "remote" || jsonInputSchema !== undefined || kind === "a2a";
}

/**
 * The description, where somebody vouches for it: the author of the program, or the host, with `trust`, for third parties. For a
 * tainted one nobody does.
 */
export function vouchedDescription(tool: ToolDefinition, trust: boolean): string | undefined {
  const { description } = tool;
  return typeof description === "string" && (trust || !isThirdParty(tool)) ? description : undefined;
}

/** Whether a model may be handed it after a search. */
export function isLoadable({ description }: ToolDefinition): boolean {
  return !isTainted(description);
}

type Json = Readonly<Record<string, unknown>>;

/** Keywords of JSON schema by what their values are. Others, known and unknown, say nothing of what is valid. */
const DATA = new Set(
  (
    "type enum const required dependentRequired minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength " +
    "pattern format minItems maxItems uniqueItems minContains maxContains minProperties maxProperties nullable $ref"
  ).split(" "),
);
const NAMED_SCHEMAS = new Set("properties patternProperties dependentSchemas $defs definitions".split(" "));
const SCHEMAS = new Set(
  (
    "items prefixItems additionalItems unevaluatedItems contains additionalProperties unevaluatedProperties propertyNames anyOf oneOf " +
    "allOf not if then else"
  ).split(" "),
);

/** The schema without its prose: what is left says what is valid, and nothing beside. */
export function withoutProse(schema: Json): Json {
  return Object.fromEntries(
    Object.entries(schema).flatMap(([keyword, value]): [string, unknown][] => {
      if (DATA.has(keyword)) return [[keyword, value]];
      if (SCHEMAS.has(keyword)) return [[keyword, bare(value)]];
      if (!NAMED_SCHEMAS.has(keyword) || !isObject(value)) return [];
      const named = Object.entries(value).map(([name, inner]) => [name, bare(inner)] as const);
      return [[keyword, Object.fromEntries(named)]];
    }),
  );
}

/** Of a schema or a list of them. A schema may also be true or false. */
function bare(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(bare);
  return isObject(value) ? withoutProse(value) : value === true;
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
