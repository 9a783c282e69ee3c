// What the builders of definitions check alike: texts, lists of texts, lists of other definitions, and words nobody knows. A
// misspelt field that is ignored is a tool without its rule, so it is refused.

import { HeddleError, invalidOption } from "./errors.js";

/** Refuses a definition that is no object, or has fields beside those it may have. */
export function checkFields(kind: string, options: unknown, fields: readonly string[]): void {
  if (typeof options !== "object" || options === null)
    throw new HeddleError("CONFIG_INVALID", `${kind} takes an object of fields: ${fields.join(", ")}.`);
  const stranger = Object.keys(options).find((field) => !fields.includes(field));
  if (stranger !== undefined)
    throw invalidOption(`${kind}: ${stranger}`, `is no field; there are ${fields.join(", ")}`);
}

/** Refuses what is no text, or empty. */
export function checkText(owner: string, field: string, value: unknown): void {
  if (typeof value !== "string" || value.trim() === "")
    throw invalidOption(`${owner}: ${field}`, "must be a text that is not empty");
}

/** Refuses what is no list of texts. */
export function checkTexts(owner: string, field: string, value: unknown): void {
  if (value === undefined) return;
  if (!Array.isArray(value)) throw invalidOption(`${owner}: ${field}`, "must be a list of texts");
  for (const [i, text] of value.entries()) checkText(owner, `${field}[${i}]`, text);
}

/** Refuses what is no list of definitions of one kind, and two of them with one id. */
export function checkDefinitions(
  owner: string,
  field: string,
  value: unknown,
  { is, made }: { readonly is: (item: unknown) => boolean; readonly made: string },
): void {
  if (value === undefined) return;
  if (!Array.isArray(value)) throw invalidOption(`${owner}: ${field}`, "must be a list");
  const seen = new Map<string, unknown>();
  for (const [i, item] of value.entries()) {
    if (!is(item)) throw invalidOption(`${owner}: ${field}[${i}]`, `must be made by ${made}`);
    const { id } = item as { readonly id: string };
    if (seen.has(id) && seen.get(id) !== item)
      throw new HeddleError(
        "DEFINITION_CONFLICT",
        `${owner}: ${field}[${i}] is another one of the id ${id}; give one of them another id.`,
        { details: { field: `${field}[${i}]`, id } },
      );
    seen.set(id, item);
  }
}
