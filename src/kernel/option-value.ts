// Values of options, checked by their form. What is not given is as good as its default.

import { invalidOption } from "./errors.js";

/** @throws CONFIG_INVALID for what is no whole number of at least `least` */
export function checkCount(option: string, value: number | undefined, least: number): void {
  if (value === undefined || (Number.isSafeInteger(value) && value >= least)) return;
  throw invalidOption(option, `must be a whole number of at least ${least}, not ${value}`);
}

/** @throws CONFIG_INVALID */
export function checkFlag(option: string, value: unknown): void {
  if (value !== undefined && typeof value !== "boolean") throw invalidOption(option, "must be true or false");
}

/** @throws CONFIG_INVALID */
export function checkFunction(option: string, value: unknown): void {
  if (value !== undefined && typeof value !== "function") throw invalidOption(option, "must be a function");
}
