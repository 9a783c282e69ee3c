// Compaction: the older part of a conversation gives way to a summary, before a turn that would carry it once more.
//
// P1  The summary is the outcome of a step, recorded once: `<loop>#turn:<i>:compact`. What is asked for it is named by the log, so a replay
//     asks for the same, and a summarizer that would say something else today is not asked.
// P2  What was folded leaves the prompt and stays in the log.

import { isClaimCheck } from "../../effects/index.js";
import {
  type ExecutableTask,
  type ExecutionContext,
  tainted,
  taintOrigin,
  unwrapTainted,
} from "../../kernel/index.js";
import type { LlmMessage, LlmText } from "../../llm/index.js";
import { answerInvalid } from "../errors.js";
import { joined } from "../model/user-turns.js";
import type { Transcript } from "../transcript/transcript.js";
import { cutOf } from "./cut.js";
import type { CompactionSettings } from "./options.js";
import { retoldMessage, summaryMessage } from "./summary-message.js";

export interface Compaction {
  readonly settings: CompactionSettings;
  readonly signal?: AbortSignal | undefined;
}

/** Messages that are summaries and nothing else. */
const SUMMARIES = new WeakSet<LlmMessage>();

/**
 * @param stepId of the turn that is about to be taken
 * @throws AGENT_ANSWER_INVALID for what is no summary, STEP_STOPPED, and what the summarizer fails with
 */
export async function compactIfDue(
  ctx: Pick<ExecutionContext, "execute">,
  turnId: string,
  transcript: Transcript,
  { settings, signal }: Compaction,
): Promise<void> {
  const { messages } = transcript;
  const cut = cutOf(
    {
      messages,
      bytes: transcript.bytes,
      bytesOf: (index) => transcript.bytesOf(index),
      isSummary: (index) => SUMMARIES.has(messages[index]!),
    },
    settings,
  );
  if (!cut) return;
  const end = cut.shape === "retold" ? messages.length : cut.from;
  const { form, expand } = transcript.excerpt(0, end);
  const stepId = `${turnId}:compact`;
  const task: ExecutableTask<typeof form, unknown> = {
    id: stepId,
    kind: "llm",
    toolId: settings.toolId,
    expand,
    ...(signal && { signal }),
  };
  const given = readSummary(stepId, await ctx.execute(task, form));
  const summary = summaryMessage(given, taintOrigin(messages.slice(0, end)));
  const rest = messages.slice(cut.from);
  const [next] = rest;
  if (cut.shape === "retold") transcript.compact(0, retoldMessage(summary, rest));
  else if (next?.role === "user") transcript.compact(rest.length - 1, joined(summary, next));
  else transcript.compact(rest.length, summary);
  if (cut.shape === "tail" && next?.role !== "user") SUMMARIES.add(transcript.messages[0]!);
}

function readSummary(stepId: string, given: unknown): LlmText {
  const value: unknown = unwrapTainted(given);
  if (isClaimCheck(value))
    throw answerInvalid(
      stepId,
      "was put away by a claim check: take the summarizer out of execution.claimCheck.toolIds",
    );
  const { summary } = (value ?? {}) as { readonly summary?: unknown };
  const text: unknown = unwrapTainted(summary);
  if (typeof text !== "string" || text.trim() === "")
    throw answerInvalid(stepId, "is no { summary } with a text in it");
  const origin = taintOrigin(given);
  return origin === undefined ? text : tainted(text, origin);
}
