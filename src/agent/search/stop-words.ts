// Stop words: words of a query that say nothing of what is wanted. Only queries lose them; what is searched keeps all its words.

import { wordsOf } from "../../kernel/index.js";

/** More would be a dictionary, and a mistake. */
export const STOP_WORDS_MAX = 256;

// Function words of English that users write round a wish ("can you bill the customer for me").
const ENGLISH = wordsOf(`
  a about am an and any are as at be been but by can could did do does for from had has have he her him his how i if in into is it
  its let me my of on or our please she should so some than that the their them then there these they this those to us was we were
  what when where which who will with would you your
`);

/** The words a list of entries stands for. An entry of several words stands for each. Default: common English ones. */
export function stopWordsOf(entries: readonly string[] | undefined): ReadonlySet<string> {
  return new Set(entries === undefined ? ENGLISH : entries.flatMap(wordsOf));
}
