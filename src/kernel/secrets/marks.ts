// Marks: which parts of a value a schema declares unreadable, and the way of a value through its schema to those parts.
//
// M1  A mark is part of the schema's definition, so what zod makes of a marked schema (`.min()`, `.optional()`, `.extend()`) is
//     marked too.
// M2  Where it cannot be told which parts a mark covers (behind a transformation, in a value that is not of the schema's
//     shape), all of it is covered.
// M3  Whether a schema has marks is found out once. Without marks this is all it costs.

import type { z } from "zod";
import { isPlain, Sealed, type SealLabel } from "../codec/index.js";
import { HeddleError } from "../errors.js";
import { isSecretRef } from "./secret-ref.js";

const MARK = "heddleMark";
/** Of one schema. */
const LAZIES_MAX = 1_000;

/** Marks what only the effect and the flow may see: credentials, personal data. Readers of the log see `"[sensitive]"`. */
export function sensitive<S extends z.ZodType>(schema: S): S {
  return marked(schema, "sensitive");
}

/** Marks what is nobody's business outside the program. Kept like `sensitive`; readers see `"[internal]"`. */
export function internal<S extends z.ZodType>(schema: S): S {
  return marked(schema, "internal");
}

function marked<S extends z.ZodType>(schema: S, label: SealLabel): S {
  if (!isSchema(schema)) {
    throw new HeddleError(
      "CONFIG_INVALID",
      `${label}(schema) takes a schema of zod 4: write ${label}(z.string()).`,
    );
  }
  return schema.clone({ ...schema._zod.def, [MARK]: label } as S["_zod"]["def"]);
}

/** What a definition says, as far as the walk needs it. */
interface Definition {
  readonly type: string;
  readonly [MARK]?: SealLabel;
  readonly [part: string]: unknown;
}

const known = new WeakMap<object, SealLabel | false>();

/** M3. Anything that is no schema has none. */
export function hasMarks(schema: unknown): schema is z.ZodType {
  return schema !== undefined && strongest(schema) !== undefined;
}

/** The label that covers all marks in a schema. */
function strongest(schema: unknown): SealLabel | undefined {
  if (!isSchema(schema)) return undefined;
  let label = known.get(schema);
  if (label === undefined) {
    label = search(schema) ?? false;
    known.set(schema, label);
  }
  return label || undefined;
}

function search(root: z.ZodType): SealLabel | undefined {
  let found: SealLabel | undefined;
  let lazies = 0;
  const met = new Set<unknown>();
  const toDo: unknown[] = [root];
  while (toDo.length > 0) {
    const part = toDo.pop();
    if (typeof part !== "object" || part === null || met.has(part)) continue;
    met.add(part);
    if (!isSchema(part)) {
      // A shape, a list of options or of parts.
      if (Array.isArray(part) || isPlain(part)) for (const inner of Object.values(part)) toDo.push(inner);
      continue;
    }
    const definition = definitionOf(part);
    const label = definition[MARK];
    if (label === "sensitive") return label;
    found = label ?? found;
    if (definition.type === "lazy") {
      lazies += 1;
      if (lazies > LAZIES_MAX) throw endless();
      toDo.push((definition["getter"] as () => unknown)());
    } else toDo.push(...Object.values(definition));
  }
  return found;
}

/** A schema that is made anew at each level has no end, and nobody can say that it has no marks. */
function endless(): HeddleError {
  return new HeddleError(
    "CONFIG_INVALID",
    "A schema makes a new one inside itself whenever it is looked into (z.lazy of a function that calls itself), so its marks cannot " +
      "be found. Make it once, and refer to it: const Node = z.object({ next: z.lazy(() => Node).optional() }).",
  );
}

/** What stands in the place of a marked part. */
export type Conceal = (part: unknown, label: SealLabel) => unknown;

/**
 * The value with each part that its schema marks exchanged for what `conceal` makes of it. Nothing in the value is changed;
 * what is marked and absent stays absent, and a `secretRef` stands for itself.
 */
export function concealMarked(schema: unknown, value: unknown, conceal: Conceal): unknown {
  const label = strongest(schema);
  if (!label || value === undefined || value === null || value instanceof Sealed) return value;
  const definition = definitionOf(schema as z.ZodType);
  const mark = definition[MARK];
  if (mark) return isSecretRef(value) ? value : conceal(value, mark);
  return concealParts(definition, value, conceal, label);
}

function concealParts(definition: Definition, value: unknown, conceal: Conceal, label: SealLabel): unknown {
  const within = (schema: unknown, part: unknown): unknown => concealMarked(schema, part, conceal);
  const whole = (): unknown => conceal(value, label); // M2
  switch (definition.type) {
    case "optional":
    case "nullable":
    case "nonoptional":
    case "default":
    case "prefault":
    case "catch":
    case "readonly":
      return within(definition["innerType"], value);
    case "lazy":
      return within((definition["getter"] as () => unknown)(), value);
    case "pipe":
      return strongest(definition["in"]) ? whole() : within(definition["out"], value);
    case "object": {
      if (!isPlainObject(value)) return whole();
      const shape = definition["shape"] as Readonly<Record<string, unknown>>;
      return mapped(value, (part, key) =>
        within(Object.hasOwn(shape, key) ? shape[key] : definition["catchall"], part),
      );
    }
    case "record":
      if (!isPlainObject(value) || strongest(definition["keyType"])) return whole();
      return mapped(value, (part) => within(definition["valueType"], part));
    case "array":
      return Array.isArray(value) ? value.map((item) => within(definition["element"], item)) : whole();
    case "tuple": {
      if (!Array.isArray(value)) return whole();
      const items = definition["items"] as readonly unknown[];
      return value.map((item, index) =>
        within(index < items.length ? items[index] : definition["rest"], item),
      );
    }
    case "set":
      if (!(value instanceof Set)) return whole();
      return new Set([...value].map((item) => within(definition["valueType"], item)));
    case "map":
      if (!(value instanceof Map) || strongest(definition["keyType"])) return whole();
      return new Map([...value].map(([key, item]) => [key, within(definition["valueType"], item)]));
    case "union":
      return (definition["options"] as readonly unknown[]).reduce(
        (part, option) => (mayBeOf(option, part) ? within(option, part) : part),
        value,
      );
    case "intersection":
      return within(definition["right"], within(definition["left"], value));
    default:
      return whole();
  }
}

/** Whether a value, parsed by a union, may have come from this option: only what surely has not may be left as it is. */
function mayBeOf(option: unknown, value: unknown): boolean {
  if (!isSchema(option)) return false;
  const definition = definitionOf(option);
  if (definition[MARK]) return true;
  if (definition.type === "object" || definition.type === "record") return isPlainObject(value);
  if (definition.type === "array" || definition.type === "tuple") return Array.isArray(value);
  return true;
}

function mapped(
  value: Readonly<Record<string, unknown>>,
  change: (part: unknown, key: string) => unknown,
): Record<string, unknown> {
  const copy: Record<string, unknown> = { ...value };
  for (const key of Object.keys(copy)) {
    const part = change(copy[key], key);
    // Never an assignment, which would run the setter of `__proto__`.
    if (part !== copy[key]) Object.defineProperty(copy, key, { value: part });
  }
  return copy;
}

/** No array, whatever its prototype. */
function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && isPlain(value);
}

function isSchema(value: unknown): value is z.ZodType {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof (value as { readonly _zod?: { readonly def?: unknown } })._zod?.def === "object"
  );
}

function definitionOf(schema: z.ZodType): Definition {
  return schema._zod.def as unknown as Definition;
}
