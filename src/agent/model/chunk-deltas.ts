// chunkDeltas: pieces of text as a model's tokenizer cuts them, put together to sentences. For sinks where each piece is a lasting
// event, how many there are is then a decision and no property of the provider.

import { invalidOption } from "../../kernel/index.js";

export interface ChunkDeltasOptions {
  /** No piece is shorter, but for the last. In UTF-16 units. Default 40. */
  readonly minChars?: number;
  /** A text without an end of a sentence is cut here, between words if it has any. Default 2,000, and at least `minChars`. */
  readonly maxChars?: number;
}

/** Takes deltas. `about` is whatever comes with each of them; texts of different ones are kept apart. */
export interface DeltaPush<A> {
  (delta: string, about?: A): void;
  /** Emits what is held back of the text of `about`. An effect that streams calls it when an answer ends. */
  readonly flush: (about?: A) => void;
}

export interface ChunkedDeltas<A> {
  /** Usable detached, as `onDelta: sink.push`. */
  readonly push: DeltaPush<A>;
  readonly flush: (about?: A) => void;
}

/** After which a piece may end: a sentence and the space behind it, a line, or what ends sentences without a space. */
const BOUNDARY = /[.!?…][)\]"'”’»]*\s+|\n+|[。！？]/gu;

/**
 * Calls `emit` once a sentence has ended and the piece has `minChars`. The pieces put together are the text, unchanged.
 *
 * @throws CONFIG_INVALID for options that are none
 */
export function chunkDeltas<A extends object = object>(
  emit: (text: string, about: A | undefined) => void,
  { minChars = 40, maxChars = Math.max(2_000, minChars) }: ChunkDeltasOptions = {},
): ChunkedDeltas<A> {
  if (typeof emit !== "function") throw invalidOption("chunkDeltas: emit", "must be a function of a text");
  checkChars("minChars", minChars, 1);
  checkChars("maxChars", maxChars, minChars);
  const held = new WeakMap<object, string>();
  const nobody = {};

  const flush = (about?: A): void => {
    const rest = held.get(about ?? nobody);
    held.delete(about ?? nobody);
    if (rest) emit(rest, about);
  };
  const push = (delta: string, about?: A): void => {
    const text = (held.get(about ?? nobody) ?? "") + delta;
    const end = endOfPiece(text, minChars, maxChars);
    held.set(about ?? nobody, text.slice(end));
    if (end > 0) emit(text.slice(0, end), about);
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

function checkChars(option: string, value: number, least: number): void {
  if (Number.isInteger(value) && value >= least) return;
  throw invalidOption(
    `chunkDeltas: ${option}`,
    `must be a whole number of at least ${least}, not ${String(value)}`,
  );
}
