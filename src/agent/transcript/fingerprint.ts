// Fingerprints: what tells whether a request that was rebuilt is the one that was sent. They roll on: another message costs that
// message, however many there are.

import { sha256 } from "../sha256.js";

/** Of nothing. */
export const EMPTY = "";

export function fingerprint(text: string): string {
  return sha256(text, "base64url");
}

/** Of what a list has come to by one more element. */
export function rolled(before: string, next: string): string {
  return fingerprint(before + next);
}

/** The same text for a value that was in a log as for the one before. */
export function textOf(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    // A bigint, which hardly any message has; without a function to ask, JSON takes half the time.
    return JSON.stringify(value, (_, part: unknown) => (typeof part === "bigint" ? `${part}n` : part));
  }
}
