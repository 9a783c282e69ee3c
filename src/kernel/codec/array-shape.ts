import { inspect } from "node:util";

/** Up to this length, listing all keys of an array is cheaper than the detour below. */
const SHORT = 64;

/** Whether an array is its elements and nothing else: no holes, no named properties, no symbols. */
export function isDense(array: readonly unknown[]): boolean {
  const { length } = array;
  for (let index = 0; index < length; index++) {
    if (array[index] === undefined && !Object.hasOwn(array, index)) return false;
  }
  // Listing the keys of a long array makes a string of every index. The inspector has a way to ask the engine for the
  // named ones alone; should it ever word its answer differently, the slow way decides.
  if (length > SHORT && inspect(array, NAMED_ONLY) === `[ ... ${length} more items ]`) return true;
  return Object.keys(array).length === length && Object.getOwnPropertySymbols(array).length === 0;
}

const NAMED_ONLY = {
  maxArrayLength: 0,
  maxStringLength: 0,
  depth: 0,
  customInspect: false,
  breakLength: Infinity,
};
