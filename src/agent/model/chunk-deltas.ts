// chunkDeltas: pieces of text as a model's tokenizer cuts them, put together to sentences. For sinks where each piece is a lasting
// event, how many there are is then a decision and no property of the provider.

import type { EffectContext } from "../../effects/index.js";
import { checkCount, invalidOption } from "../../kernel/index.js";

export interface ChunkDeltasOptions {
  /** No piece is shorter, but for the last. In UTF-16 units. Default 40. */
  readonly minChars?: number;
  /** A text without an end of a sentence is cut here, between words if it has any. Default 2,000, and at least `minChars`. */
  readonly maxChars?: number;
}

/** Takes deltas. `about` is what comes with each of them, if anything does; texts of different ones are kept apart. */
export interface DeltaPush<About extends readonly object[]> {
  (delta: string, ...about: About): void;
  /** Emits what is held back of the text of `about`. An effect that streams calls it when an answer ends. */
  readonly flush: (...about: About) => void;
}

export interface ChunkedDeltas<About extends readonly object[]> {
  /** Usable detached, as `onDelta: sink.push`. */
  readonly push: DeltaPush<About>;
  readonly flush: (...about: About) => void;
}

/** After which a piece may end: a sentence and the space behind it, a line, or what ends sentences without a space. */
const BOUNDARY = /[.!?…][)\]"'”’»]*\s+|\n+|[。！？]/gu;

/**
 * Calls `emit` once a sentence has ended and the piece has `minChars`. The pieces put together are the text, unchanged. An `emit` of two
 * parameters is told whose text it is: the context of the effect, where it is the `onDelta` of one.
 *
 * @throws CONFIG_INVALID for options that are none
 */
export function chunkDeltas<About extends readonly object[] = [ctx: EffectContext]>(
  emit: (text: string, ...about: About) => void,
  { minChars = 40, maxChars = Math.max(2_000, minChars) }: ChunkDeltasOptions = {},
): ChunkedDeltas<About> {
  if (typeof emit !== "function") throw invalidOption("chunkDeltas: emit", "must be a function of a text");
  checkCount("chunkDeltas: minChars", minChars, 1);
  checkCount("chunkDeltas: maxChars", maxChars, minChars);
  const held = new WeakMap<object, string>();
  const nobody = {};

  const flush = (...about: About): void => {
    const [whose = nobody] = about;
    const rest = held.get(whose);
    held.delete(whose);
    if (rest) emit(rest, ...about);
  };
  const push = (delta: string, ...about: About): void => {
    const [whose = nobody] = about;
    const text = (held.get(whose) ?? "") + delta;
    const end = endOfPiece(text, minChars, maxChars);
    held.set(whose, text.slice(end));
    if (end > 0) emit(text.slice(0, end), ...about);
  };
  return { push: Object.assign(push, { flush }), flush };
}

/** Where the piece ends that is there to be emitted; 0 while there is none. */
function endOfPiece(text: string, minChars: number, maxChars: number): number {
  if (text.length < minChars) return 0;
  let end = 0;
  for (const boundary of text.matchAll(BOUNDARY)) end = boundary.index + boundary[0].length;
  if (end >= minChars) return end;
  return text.length < maxChars ? 0 : endOfWords(text, minChars);
}

function endOfWords(text: string, minChars: number): number {
  const end = text.search(/\s\S*$/u) + 1;
  if (end >= minChars) return end;
  // Not in the middle of a character.
  return /[\uD800-\uDBFF]$/.test(text) ? text.length - 1 : text.length;
}
