/// <reference lib="es2024.string" />

/** Below this length a loop over the characters beats two calls into the engine. */
const SHORT = 40;

/** The size of a string in UTF-8, or -1 when it has a surrogate without a partner and UTF-8 cannot hold it. */
export function utf8Bytes(text: string): number {
  const { length } = text;
  if (length > SHORT) return text.isWellFormed() ? Buffer.byteLength(text) : -1;
  let bytes = length;
  for (let index = 0; index < length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) continue;
    if (unit < 0x800) bytes += 1;
    else if ((unit & 0xf800) !== 0xd800) bytes += 2;
    else if (unit < 0xdc00 && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00) {
      // A pair takes four bytes, and its second half is already counted as one unit.
      bytes += 2;
      index += 1;
    } else return -1;
  }
  return bytes;
}

/** The start of a text, never ending in half a character. */
export function shortened(text: string, charsMax = 60): string {
  return text.length > charsMax ? `${text.slice(0, Math.max(charsMax - 1, 0)).toWellFormed()}…` : text;
}
