// Recorded values for people: a few words, or all of it. Neither ever throws, whatever the log holds.

import { inspect } from "node:util";
import { describeValue, fromWire, type Wire } from "../../kernel/codec/index.js";
import { printable } from "./text.js";

/** One line of at most `charsMax` characters. */
export function shortValue(wire: Wire, charsMax: number): string {
  const value = decoded(wire);
  return printable(value.ok ? describeValue(value.value, charsMax) : value.words);
}

/** The whole value, over as many lines as it takes. */
export function wholeValue(wire: Wire, width: number): string[] {
  const value = decoded(wire);
  return (value.ok ? inspected(value.value, width) : value.words).split("\n").map(printable);
}

function inspected(value: unknown, width: number): string {
  try {
    return inspect(value, {
      depth: Infinity,
      maxArrayLength: null,
      maxStringLength: null,
      breakLength: width,
    });
  } catch {
    return describeValue(value, width);
  }
}

type Decoded =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly words: string };

function decoded(wire: Wire): Decoded {
  try {
    return { ok: true, value: fromWire(wire) };
  } catch (error) {
    return { ok: false, words: `[unreadable: ${error instanceof Error ? error.message : String(error)}]` };
  }
}
