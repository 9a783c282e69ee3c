// Running one call: a step of the flow, a person at a gate, or another agent; and what came of it as an answer to the model.

import {
  type ExecutableTask,
  hasCode,
  parseSync,
  type ToolDefinition,
  tainted,
  taintOrigin,
} from "../../kernel/index.js";
import type { LlmText } from "../../llm/index.js";
import { conversationOf } from "../conversation-of.js";
import { ifAdmitted, refusalOf } from "../menu/changed-tools.js";
import { inheritedChoice } from "../routing/model-choice.js";
import { isStop, saidBefore } from "../turn/ask-model.js";
import type { AgentRun } from "../turn/run.js";
import { type AgentTool, isAgentTool } from "./agent-tool.js";
import type { RunnableCall } from "./call.js";
import { describeFailure, detailsOf, hasBegun, isFinal } from "./failures.js";
import { askHuman } from "./human.js";
import { failed, notRun, resulted, type ToolAnswer } from "./tool-answer.js";

/** @throws what no model is told of, and with `toolErrors: "fail"` every failure of the tool */
export async function runCall(run: AgentRun, call: RunnableCall): Promise<ToolAnswer> {
  const { tool } = call;
  const { maxToolResultBytes, toolErrors } = run.settings;
  try {
    if (tool.kind === "human") return await askHuman(run, call);
    if (isAgentTool(tool)) return resulted(call, await askAgent(run, call, tool), maxToolResultBytes);
    const result = await run.ctx.execute(taskOf(run, call), call.input);
    return { kind: "outcome", result };
  } catch (error) {
    if (isStop(error)) return hasBegun(error) ? interrupted(call, saidBefore(error)) : notRun(call);
    if (isGone(tool, error)) return failed(call, { code: "unknownTool", message: GONE }, false);
    const refusal = refusalOf(error);
    if (refusal) return failed(call, { ...describeFailure(error), code: refusal }, false);
    if (toolErrors === "fail" || isFinal(error)) throw error;
    return failed(call, describeFailure(error), true, detailsOf(error));
  }
}

function taskOf({ settings, menu }: AgentRun, { tool, stepId }: RunnableCall): ExecutableTask {
  const { toolTimeoutMs, signal, refuseChangedTool } = settings;
  const change = menu.changeOf(tool.id);
  const timeoutMs = Math.min(tool.timeoutMs ?? Infinity, toolTimeoutMs ?? Infinity);
  return {
    ...tool,
    id: stepId,
    toolId: tool.toolId ?? tool.id,
    ...(timeoutMs !== Infinity && { timeoutMs }),
    ...(signal && { signal }),
    ...(change && { expand: ifAdmitted(change, refuseChangedTool) }),
  };
}

async function askAgent(run: AgentRun, { stepId, input }: RunnableCall, tool: AgentTool): Promise<LlmText> {
  const { agent, loop, input: inputOf } = tool.inner;
  const { signal, onWarn } = run.settings;
  const parsed = parseSync(tool.inputSchema, input, "input of tool", tool.id);
  const config = {
    ...inheritedChoice(run.settings, loop),
    ...(onWarn && { onWarn }),
    ...loop,
    ...(signal && { signal }),
    definition: agent,
    id: stepId,
  };
  const end = await run.runAgent(run.ctx, config, inputOf(parsed.data));
  // A model that has read what nobody vouches for may say what that wanted it to.
  const origin = taintOrigin(conversationOf(end));
  return origin === undefined ? end.content : tainted(end.content, origin);
}

const GONE = "Whoever offered this tool does not offer it any more.";

/** Another party's tools come and go. One of this app's that nobody registered is a mistake. */
function isGone(tool: ToolDefinition, error: unknown): boolean {
  return tool.origin === "remote" && hasCode(error, "EFFECT_UNKNOWN");
}

function interrupted(call: RunnableCall, said: string): ToolAnswer {
  const message = "The agent was stopped while this call was under way. What it did until then stands.";
  return failed(call, { code: "interrupted", message }, true, said === "" ? {} : { payload: { said } });
}
