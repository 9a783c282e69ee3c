// Text for a terminal: what stored text may contain, and how much room it takes.

/**
 * C0 and C1 controls, line separators, and marks that reorder what follows: stored text must not steer the terminal
 * it is shown on.
 */
const STEERING = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu;

/** One line that can be shown as it is: what would steer a terminal is spelt out. */
export function printable(text: string): string {
  return text.replaceAll(STEERING, (character) => {
    const code = character.charCodeAt(0).toString(16);
    return code.length > 2 ? `\\u${code.padStart(4, "0")}` : `\\x${code.padStart(2, "0")}`;
  });
}

const NO_ROOM = /[\p{Mn}\p{Me}\p{Cf}]/u;
const TWO_COLUMNS =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const PLAIN = /^[\u0020-\u007e]*$/;

/** How many columns of a terminal the text takes. */
export function columns(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let count = 0;
  for (const character of text) count += columnsOf(character);
  return count;
}

/** The start of the text that fits, with a mark when something was cut off. */
export function cut(text: string, width: number): string {
  if (columns(text) <= width) return text;
  let kept = "";
  let used = 1;
  for (const character of text) {
    used += columnsOf(character);
    if (used > width) break;
    kept += character;
  }
  if (width <= 0) return "";
  return kept.endsWith("…") ? kept : `${kept}…`;
}

export function padEnd(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - columns(text)));
}

export function padStart(text: string, width: number): string {
  return " ".repeat(Math.max(0, width - columns(text))) + text;
}

function columnsOf(character: string): number {
  if (NO_ROOM.test(character)) return 0;
  return TWO_COLUMNS.test(character) ? 2 : 1;
}
