// Words: how texts are cut for keyword search, the same for what is searched and what is asked.

const RUN = /[\p{L}\p{N}\p{M}]+/gu;
// Scripts written without spaces. Nobody can say where their words end without a dictionary; pairs of characters do instead.
const SPACELESS =
  /([\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]+)/u;
const HAS_SPACELESS = new RegExp(SPACELESS.source, "u");
const ASCII = /^[\p{ASCII}]*$/u;

/**
 * The words of a text in any script, in lower case and in their order: letters and digits, after NFKC. Text in a script that is
 * written without spaces gives overlapping pairs of characters.
 */
export function wordsOf(text: string): string[] {
  const plain = text.normalize("NFKC").toLowerCase();
  const runs = plain.match(RUN) ?? [];
  if (ASCII.test(plain)) return runs;
  return runs.flatMap((run) => (HAS_SPACELESS.test(run) ? run.split(SPACELESS).flatMap(piecesOf) : run));
}

function piecesOf(part: string): string[] {
  if (part === "") return [];
  if (!HAS_SPACELESS.test(part)) return [part];
  const characters = Array.from(part);
  if (characters.length === 1) return [part];
  return characters.slice(1).map((character, index) => characters[index]! + character);
}
