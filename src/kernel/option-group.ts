// Groups of options, as callers write them. One that is misspelt and ignored would be noticed when it is missed, so it is refused.

import { invalidOption } from "./errors.js";

/** @throws CONFIG_INVALID for what is no object, or has an option beside those that are known */
export function checkOptionGroup(group: string, value: unknown, known: readonly string[]): void {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw invalidOption(group, "is a group of options, so it must be an object");
  refuseStrangers(`${group}.`, value, known);
}

/**
 * @param owner what stands before an option in the complaint, such as "workers." or "runAgentOnce: "
 * @throws CONFIG_INVALID for the first option that is not known
 */
export function refuseStrangers(owner: string, options: object, known: readonly string[]): void {
  const stranger = Object.keys(options).find((option) => !known.includes(option));
  if (stranger !== undefined)
    throw invalidOption(`${owner}${stranger}`, `is no option here. There are: ${known.join(", ")}`);
}
