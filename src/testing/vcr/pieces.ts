// Pieces of a stream as a cassette has them: deltas of one kind in one list, so that a file shows how an answer came and can be read.

import type { LlmStreamEvent } from "../../llm/index.js";

type Piece = Exclude<LlmStreamEvent, { readonly type: "end" }>;

export type RecordedPiece =
  | { readonly text: string[] }
  | { readonly reasoning: string[] }
  | { readonly toolCall: number; readonly id?: string; readonly name?: string; readonly deltas: string[] };

/** Adds a piece to those recorded so far. */
export function record(recorded: RecordedPiece[], piece: Piece): void {
  const last = recorded.at(-1);
  if (piece.type === "toolCall") {
    const { index, id, name, delta } = piece;
    const isMore =
      last && "toolCall" in last && last.toolCall === index && id === undefined && name === undefined;
    if (isMore) last.deltas.push(delta);
    else
      recorded.push({
        toolCall: index,
        ...(id !== undefined && { id }),
        ...(name !== undefined && { name }),
        deltas: [delta],
      });
    return;
  }
  if (piece.type === "text") {
    if (last && "text" in last) last.text.push(piece.delta);
    else recorded.push({ text: [piece.delta] });
    return;
  }
  if (last && "reasoning" in last) last.reasoning.push(piece.delta);
  else recorded.push({ reasoning: [piece.delta] });
}

/** The pieces as they came. */
export function* replay(recorded: readonly RecordedPiece[]): Generator<Piece> {
  for (const piece of recorded) {
    if ("text" in piece) for (const delta of piece.text) yield { type: "text", delta };
    else if ("reasoning" in piece) for (const delta of piece.reasoning) yield { type: "reasoning", delta };
    else {
      const { toolCall: index, deltas, ...named } = piece;
      for (const [i, delta] of deltas.entries())
        yield { type: "toolCall", index, ...(i === 0 && named), delta };
    }
  }
}
