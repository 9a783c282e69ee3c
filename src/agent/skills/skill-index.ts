// The index: a line for each skill a model can take up.

import type { SkillDefinition } from "../../kernel/index.js";

const ID_CHARS_MAX = 64;
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/u;

/** Whether a model can be told the id, and say it. */
export function isOfferable({ id }: SkillDefinition): boolean {
  return Array.from(id).length <= ID_CHARS_MAX && !CONTROL.test(id);
}

export interface SkillIndex {
  /** One line for each skill that is listed, and one that counts the others. Empty where there are no skills. */
  readonly text: string;
  readonly listed: readonly SkillDefinition[];
}

/** Lists the first skills: at most `maxIndex`, in at most `maxBytes` of UTF-8, the line that counts the others included. */
export function skillIndex(
  skills: readonly SkillDefinition[],
  maxIndex: number,
  maxBytes: number,
): SkillIndex {
  const lines = skills.slice(0, maxIndex).map(lineOf);
  for (let count = lines.length; count > 0; count--) {
    const text = indexOf(lines.slice(0, count), skills.length - count);
    if (Buffer.byteLength(text) <= maxBytes) return { text, listed: skills.slice(0, count) };
  }
  return { text: indexOf([], skills.length), listed: [] };
}

function indexOf(lines: readonly string[], others: number): string {
  return [...lines, ...(others > 0 ? [`+${others} more`] : [])].join("\n");
}

function lineOf({ id, description, tags = [] }: SkillDefinition): string {
  const about = tags.length > 0 ? ` [${tags.join(", ")}]` : "";
  // A line of its own for each: whatever is in a description, it begins no other.
  return `${id}: ${description}${about}`.replace(/\s+/g, " ");
}
