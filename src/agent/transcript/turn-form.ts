// The turn form: what the log holds as the input of a turn. It names what earlier events hold, and says only what is new, so a log
// grows with its conversation and not with the square of it. What it stands for is rebuilt by `readTurnRequest`.
//
// It is in every log of an agent: its fields may grow and may not change.

import type { LlmMessage, LlmToolSpec } from "../../llm/index.js";

/** Where a message stands. */
export type MessageSource =
  /** Here: no earlier event holds it. */
  | { readonly say: LlmMessage }
  /** It is what the model answered at a step. `ids`: of its calls, where they had to be told apart from others. */
  | { readonly answer: string; readonly ids?: readonly string[] }
  /** It shows the result of a step to the model, as the answer to a call. `bytesMax`: what was shown of it at most. */
  | { readonly result: string; readonly call: string; readonly tool: string; readonly bytesMax: number }
  /** It is the `content` of what was decided, as the answer to a call the loop answered itself. */
  | { readonly decided: string; readonly call: string; readonly tool: string; readonly isError?: true };

export interface TurnForm {
  /** The version of this form. */
  readonly turn: 1;
  /** The step whose request this one builds on: its system prompt and menu hold on, and its messages stand in the middle. */
  readonly base?: string;
  /** Which of its messages those are. Default: all of them. */
  readonly from?: number;
  readonly to?: number;
  /** Before them. */
  readonly first?: readonly MessageSource[];
  /** After them. */
  readonly add: readonly MessageSource[];
  /** Where it changed. Null: there is none any more. */
  readonly system?: string | null;
  /** Where the menu changed: so many tools of the one before, and these. */
  readonly menu?: { readonly keep: number; readonly add: readonly LlmToolSpec[] };
  /** Messages of the request. */
  readonly count: number;
  /** SHA-256 of all of the request, in base64url. */
  readonly digest: string;
}

export function isTurnForm(value: unknown): value is TurnForm {
  const { turn, add, digest } = (value ?? {}) as Partial<Record<keyof TurnForm, unknown>>;
  return turn === 1 && Array.isArray(add) && typeof digest === "string";
}
