// Checks of options by their form. Each names the option it refuses.

import { type HeddleError, invalidOption } from "../kernel/index.js";

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

/** `check` says what is wrong with an item, in words that follow on its place. */
export function checkList(option: string, value: unknown, check: (item: unknown) => true | string): void {
  if (value === undefined) return;
  if (!Array.isArray(value)) throw invalidOption(option, "must be a list");
  for (const [i, item] of value.entries()) {
    const complaint = check(item);
    if (complaint !== true) throw invalidOption(`${option}[${i}]`, complaint);
  }
}

export function unavailable(option: string): HeddleError {
  return invalidOption(
    option,
    "is not in this version of heddle. It is refused so that you do not rely on it",
  );
}
