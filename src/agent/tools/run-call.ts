// Running one call: the step it is, and what came of it as an answer to the model.

import type { ExecutableTask } from "../../kernel/index.js";
import { isStop } from "../turn/ask-model.js";
import type { AgentRun } from "../turn/run.js";
import type { RunnableCall } from "./call.js";
import { describeFailure, detailsOf, isFinal } from "./failures.js";
import { failed, resulted, type ToolAnswer } from "./tool-answer.js";

/** @throws what no model is told of, and with `toolErrors: "fail"` every failure of the tool */
export async function runCall(run: AgentRun, call: RunnableCall): Promise<ToolAnswer> {
  const { maxToolResultBytes, toolErrors } = run.settings;
  try {
    const result = await run.ctx.execute(taskOf(run, call), call.input);
    return resulted(call, result, maxToolResultBytes, true);
  } catch (error) {
    if (isStop(error)) {
      const message = "The agent was stopped while this call was under way. What it did until then stands.";
      return failed(call, { code: "interrupted", message }, true);
    }
    if (toolErrors === "fail" || isFinal(error)) throw error;
    return failed(call, describeFailure(error), true, detailsOf(error));
  }
}

function taskOf({ settings }: AgentRun, { tool, stepId }: RunnableCall): ExecutableTask {
  const { toolTimeoutMs, signal } = settings;
  const timeoutMs = Math.min(tool.timeoutMs ?? Infinity, toolTimeoutMs ?? Infinity);
  return {
    ...tool,
    id: stepId,
    toolId: tool.toolId ?? tool.id,
    ...(timeoutMs !== Infinity && { timeoutMs }),
    ...(signal && { signal }),
  };
}
