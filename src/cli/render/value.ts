// Recorded values for people: a few words, or all of it. Neither ever throws, whatever the log holds.

import { inspect } from "node:util";
import { type ClaimCheckEnvelope, isClaimCheck } from "../../effects/index.js";
import { describeValue, fromWire, type Wire } from "../../kernel/codec/index.js";
import { printable } from "./text.js";

/** One line of at most `charsMax` characters. */
export function shortValue(wire: Wire, charsMax: number): string {
  const value = decoded(wire);
  if (!value.ok) return printable(value.words);
  const words = isClaimCheck(value.value)
    ? envelopeWords(value.value, charsMax)
    : describeValue(value.value, charsMax);
  return printable(words);
}

/** What was put away, how large it is, and what was kept of it; the address is in the whole value. */
function envelopeWords({ ref, size, digest, contentType }: ClaimCheckEnvelope, charsMax: number): string {
  const kind = contentType === undefined ? "" : ` of ${contentType}`;
  const words = `put away: ${size.toLocaleString("en")} bytes${kind}, ${ref.slice(0, REF_CHARS)}`;
  const left = charsMax - words.length - 2;
  return digest === undefined || left < 10
    ? words.slice(0, charsMax)
    : `${words}, ${describeValue(digest, left)}`;
}

/** Enough of an address to find it again. */
const REF_CHARS = "sha256:".length + 12;

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
