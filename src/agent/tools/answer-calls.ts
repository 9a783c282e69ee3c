// Answering the calls of a turn. Whatever happens, the conversation gets exactly one answer for each call, in the order of the
// calls: one that ended in the middle of a turn can be taken up by any provider.

import type { LlmToolCall } from "../../llm/index.js";
import { correctionLimit } from "../errors.js";
import type { Turn } from "../turn/ask-model.js";
import type { AgentRun } from "../turn/run.js";
import { type Call, readCalls } from "./call.js";
import { runCall } from "./run-call.js";
import { failed, notRun, type ToolAnswer, toolMessage } from "./tool-answer.js";

/** @throws agentInterrupted, AGENT_CORRECTION_LIMIT, and what ends an agent of the failures of its tools */
export async function answerCalls(run: AgentRun, turn: Turn): Promise<void> {
  const { settings } = run;
  const calls = readCalls(asMade(turn), run.turnId, run.menu, settings.maxCallsPerTurn);
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
function asMade({ response, message }: Turn): readonly LlmToolCall[] {
  const { toolCalls = [] } = response;
  return (message.toolCalls ?? []).map((call, index) => {
    const { input, malformed } = toolCalls[index]!;
    return { id: call.id, name: call.name, input, ...(malformed !== undefined && { malformed }) };
  });
}

class Batch {
  readonly #run: AgentRun;
  readonly #calls: readonly Call[];
  readonly #answers: (ToolAnswer | undefined)[];
  isStopped = false;

  constructor(run: AgentRun, calls: readonly Call[]) {
    this.#run = run;
    this.#calls = calls;
    this.#answers = calls.map((call) => {
      if (call.kind === "runnable") return undefined;
      run.corrections++;
      return failed(call, call.error, false);
    });
  }

  async run(): Promise<void> {
    const { ctx, settings } = this.#run;
    const branches = this.#calls.map((_, index) => () => this.#answer(index));
    if (settings.toolsAtOnce > 1 && branches.length > 1)
      await ctx.parallel(branches, { limit: settings.toolsAtOnce });
    else for (const branch of branches) await branch();
  }

  async #answer(index: number): Promise<void> {
    const call = this.#calls[index]!;
    if (this.#answers[index] || this.isStopped || call.kind !== "runnable") return;
    const answer = await runCall(this.#run, call);
    this.#answers[index] = answer;
    if (answer.kind === "error" && answer.error.code === "interrupted") this.isStopped = true;
  }

  /** Hands all answers to the conversation. A call that has none was not made. */
  close(): void {
    const { conversation, calls, turn } = this.#run;
    for (const [index, call] of this.#calls.entries()) {
      const answer = this.#answers[index] ?? notRun(call);
      conversation.add(toolMessage(call, answer));
      calls.add(call, turn, answer);
    }
  }
}
