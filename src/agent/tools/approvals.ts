// Approvals: which calls of a turn somebody has to approve, and what they say. All of it is settled before any call begins, so
// nobody decides about a call while another one changes the world under it.

import { z } from "zod";
import type { AgentRun } from "../turn/run.js";
import { askPeople, type Reading } from "./ask-people.js";
import type { RunnableCall } from "./call.js";
import { failed, type ToolAnswer } from "./tool-answer.js";

/**
 * What an approval gate is resumed with: give it to `resumeSchemas` of the flow, and anything else is refused before it is recorded.
 */
export const agentApproval = z.object({
  approved: z.boolean(),
  /** For the model, of a refusal. */
  reason: z.string().max(2_000).optional(),
  /** The correlation key of the gate that this is meant for. Another one is refused. */
  call: z.string().optional(),
});

export type AgentApproval = z.infer<typeof agentApproval>;

/** A call that somebody has to approve, and its place in its turn. */
export type CallToApprove = readonly [index: number, call: RunnableCall];

/** The policy is asked once for each call: what it said is in the log, as one decision a turn. */
export async function callsToApprove(
  { ctx, settings, turn, turnId }: AgentRun,
  calls: readonly (RunnableCall | undefined)[],
): Promise<readonly CallToApprove[]> {
  const { needsApproval } = settings;
  if (!needsApproval || !calls.some(Boolean)) return [];
  const asked = await ctx.decide(`${turnId}:approvals`, async () => {
    const indexes: number[] = [];
    for (const [index, call] of calls.entries()) {
      if (!call) continue;
      const { id, input, tool } = call;
      // Whatever is no clear no is a yes. A policy knows tools by their ids, whatever the model calls them.
      if ((await needsApproval({ id, name: tool.id, input }, turn)) !== false) indexes.push(index);
    }
    return indexes;
  });
  return asked.map((index) => [index, calls[index]!]);
}

/**
 * Waits for everything that has to be decided, in whichever order the decisions come.
 *
 * @returns the answers to the calls that were declined, by their places
 */
export async function collectApprovals(
  run: AgentRun,
  calls: readonly CallToApprove[],
): Promise<ReadonlyMap<number, ToolAnswer>> {
  const declined = new Map<number, ToolAnswer>();
  // The gates open in the order of the calls, all of them before anybody has decided.
  const decisions = calls.map(async ([index, call]) => {
    const { approved, reason } = await askPeople(run, run.settings.approvalGate, call, readApproval);
    if (!approved) declined.set(index, refused(call, reason));
  });
  await Promise.all(decisions);
  return declined;
}

function readApproval(payload: unknown, key: string): Reading<AgentApproval> {
  const parsed = agentApproval.safeParse(payload);
  if (!parsed.success) return { fault: "malformed" };
  const { call } = parsed.data;
  return call === undefined || call === key ? { answer: parsed.data } : { fault: "otherCall" };
}

function refused(call: RunnableCall, reason: string | undefined): ToolAnswer {
  const message = reason === undefined ? "This call was declined." : `This call was declined: ${reason}`;
  return failed(call, { code: "refused", message }, false);
}
