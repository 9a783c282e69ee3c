// Answering the calls of a turn. Whatever happens, the conversation gets exactly one answer for each call, in the order of the
// calls: one that ended in the middle of a turn can be taken up by any provider.

import type { LlmToolCall } from "../../llm/index.js";
import { correctionLimit } from "../errors.js";
import type { ToolErrorCode } from "../result.js";
import type { Turn } from "../turn/ask-model.js";
import type { AgentRun } from "../turn/run.js";
import { callsToApprove, collectApprovals } from "./approvals.js";
import { type Call, readCalls } from "./call.js";
import { describeFailure } from "./failures.js";
import { runCall } from "./run-call.js";
import { failed, notRun, ofMeta, type ToolAnswer, toolMessage } from "./tool-answer.js";

/** @throws agentInterrupted, AGENT_CORRECTION_LIMIT, and what ends an agent of the failures of its tools */
export async function answerCalls(run: AgentRun, turn: Turn): Promise<void> {
  const { settings } = run;
  const calls = readCalls(asMade(turn), run.turnId, run, settings.maxCallsPerTurn);
  const batch = new Batch(run, calls);
  try {
    await batch.run();
  } finally {
    batch.close();
  }
  if (batch.isStopped) throw run.interrupted("");
  if (run.corrections > settings.maxCorrections)
    throw correctionLimit(run.loopId, run.corrections, settings.maxCorrections);
}

/** Under the ids and names of the conversation, with the arguments as the model wrote them. */
export function asMade({ response, message }: Turn): readonly LlmToolCall[] {
  const { toolCalls = [] } = response;
  return (message.toolCalls ?? []).map((call, index) => {
    const { input, malformed } = (toolCalls[index] ?? {}) as Partial<LlmToolCall>;
    return { id: call.id, name: call.name, input, ...(typeof malformed === "string" && { malformed }) };
  });
}

/** What calls are answered with that the agent's signal has stopped. */
const STOPPED: ReadonlySet<ToolErrorCode> = new Set<ToolErrorCode>(["interrupted", "notRun"]);

class Batch {
  readonly #run: AgentRun;
  readonly #calls: readonly Call[];
  readonly #answers: (ToolAnswer | undefined)[];
  isStopped = false;

  constructor(run: AgentRun, calls: readonly Call[]) {
    this.#run = run;
    this.#calls = calls;
    this.#answers = calls.map((call) => {
      if (call.kind !== "wrong") return undefined;
      run.corrections++;
      return failed(call, call.error, false);
    });
  }

  async run(): Promise<void> {
    const { ctx, settings } = this.#run;
    if (this.#mayAskPeople) await this.#settleApprovals();
    if (this.isStopped) return;
    if (this.#calls.some(({ kind }) => kind === "meta")) await this.#answerMeta();
    const { length } = this.#calls;
    if (settings.toolsAtOnce > 1 && length > 1) {
      const branches = this.#calls.map((_, index) => () => this.#answer(index));
      await ctx.parallel(branches, { limit: settings.toolsAtOnce });
    } else for (let index = 0; index < length; index++) await this.#answer(index);
  }

  get #mayAskPeople(): boolean {
    return (
      this.#run.settings.needsApproval !== undefined ||
      this.#calls.some((call) => call.kind === "runnable" && call.tool.kind === "human")
    );
  }

  async #settleApprovals(): Promise<void> {
    const runnable = this.#calls.map((call) => (call.kind === "runnable" ? call : undefined));
    const toApprove = await callsToApprove(this.#run, runnable);
    const asksPeople = toApprove.length > 0 || runnable.some((call) => call?.tool.kind === "human");
    if (asksPeople) this.isStopped = await this.#isStoppedByNow();
    if (this.isStopped) return;
    for (const [index, answer] of await collectApprovals(this.#run, toApprove)) this.#answers[index] = answer;
  }

  /**
   * Read once and recorded: nobody is asked about a call that will not be made. A step reads the signal by itself. Decided without a
   * signal too, for whoever had one may have none after a restart.
   */
  #isStoppedByNow(): Promise<boolean> {
    const { ctx, settings, turnId } = this.#run;
    return ctx.decide(`${turnId}:stop`, () => settings.signal?.aborted === true);
  }

  /** One after the other, whatever else may overlap: what joins the menu joins in the order of the calls. */
  async #answerMeta(): Promise<void> {
    for (const [index, call] of this.#calls.entries()) {
      if (call.kind === "meta") this.#answers[index] = ofMeta(await call.meta.answer(call, call.stepId));
    }
  }

  async #answer(index: number): Promise<void> {
    const call = this.#calls[index]!;
    if (this.#answers[index] || this.isStopped || call.kind !== "runnable") return;
    try {
      const answer = await runCall(this.#run, call);
      this.#answers[index] = answer;
      if (answer.kind === "error" && STOPPED.has(answer.error.code)) this.isStopped = true;
    } catch (error) {
      this.#answers[index] = failed(call, describeFailure(error), true);
      throw error;
    }
  }

  /** Hands all answers to the conversation. A call that has none was not made. */
  close(): void {
    const { conversation, calls, turn, settings } = this.#run;
    for (const [index, call] of this.#calls.entries()) {
      const answer = this.#answers[index] ?? notRun(call);
      if (answer.kind === "outcome")
        conversation.result(call.stepId, call, answer.result, settings.maxToolResultBytes);
      else if (answer.decisionId !== undefined)
        conversation.decided(answer.decisionId, call, answer.content, answer.kind === "error");
      else conversation.say(toolMessage(call, answer));
      const shown = conversation.bytesOf(conversation.messages.length - 1);
      calls.add(call, turn, answer, shown);
    }
  }
}
