// The content of a message, as the guard lets it through: text, or a list of parts.

import type { GuardedPart } from "../guard/guarded.js";

export function partsIn(content: string | readonly GuardedPart[]): readonly GuardedPart[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

/** Without what is no text. */
export function textOf(content: string | readonly GuardedPart[]): string {
  if (typeof content === "string") return content;
  return content.flatMap((part) => (part.type === "text" ? part.text : [])).join("\n");
}
