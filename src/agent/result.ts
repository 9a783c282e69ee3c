// What a loop comes to. Plain data, so that a flow may return it as it is.

import type { LlmUsage, StopReason } from "../llm/index.js";

export interface AgentResult {
  /** The answer. */
  readonly content: string;
  /** Turns taken, the last one included. */
  readonly iterations: number;
  /** Every call, in the order of the calls. */
  readonly toolCallLog: readonly ToolCallLogEntry[];
  /** Of all answers together, also of empty ones that were asked for again. Absent where no answer said. */
  readonly usage?: LlmUsage;
  /** Why the model stopped. `maxTokens`: the answer was cut off. */
  readonly stopReason: StopReason;
}

/** One call of a tool and what came of it. */
export interface ToolCallLogEntry {
  readonly id: string;
  readonly name: string;
  /** The turn it was made in, counted from 0. */
  readonly turn: number;
  /** Under which id the log has it. */
  readonly stepId: string;
  /** False: the tool was not asked to do anything. */
  readonly ran: boolean;
  readonly input?: unknown;
  readonly result?: unknown;
  readonly error?: ToolCallError;
  /** Input and result are left out, for all of them together would be too large. The log has them under `stepId`. */
  readonly omitted?: true;
}

export interface ToolCallError {
  readonly code: ToolErrorCode;
  readonly message: string;
}

/** Why a call has no result. */
export type ToolErrorCode =
  /** The tool failed. */
  | "failed"
  /** It ran longer than it may. */
  | "timedOut"
  /** It gave more than a log may hold. */
  | "resultTooLarge"
  /** The arguments are no JSON. */
  | "malformedInput"
  /** The arguments are not of the tool's schema. */
  | "invalidInput"
  /** There is no such tool, or no longer. */
  | "unknownTool"
  /** More calls in one turn than are answered. */
  | "tooManyCalls"
  /** Somebody declined it. */
  | "refused"
  /** The agent was stopped while it ran; what it did until then stands. */
  | "interrupted"
  /** The agent was stopped before it began. */
  | "notRun";

/** In which way a model said nothing. */
export type EmptyReason = "nothing" | "reasoningOnly" | "contentFilter" | "toolUseWithoutCall";

/** What is kept of an agent that was stopped. */
export interface AgentInterruption {
  /** The text of the turn that was stopped, as far as it came. */
  readonly content: string;
  /** Turns begun. */
  readonly iterations: number;
  readonly toolCallLog: readonly ToolCallLogEntry[];
}
