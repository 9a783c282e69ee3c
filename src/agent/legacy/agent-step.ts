// agentStep$: an agent as one step. An earlier form of agentLoop$; see AgentRunner.

import { z } from "zod";
import { type StepDefinition, type StepOptions, step$ } from "../../kernel/index.js";
import type { AgentLoopInput } from "../loop-config.js";
import type { AgentResult } from "../result.js";
import { AgentRunner, type AgentRunnerOptions } from "./agent-runner.js";

export interface AgentStepOptions
  extends AgentRunnerOptions,
    Pick<StepOptions<unknown, unknown>, "id" | "name" | "retry" | "timeoutMs" | "deadlineMs" | "errors"> {}

const INPUT = z.custom<AgentLoopInput | string>(
  (value) => typeof value === "string" || (typeof value === "object" && value !== null),
  { error: "must be a prompt, or what agentLoop$ takes as its input" },
);
const OUTPUT = z.custom<AgentResult>(() => true);

/**
 * A step that runs the whole agent: one event when it begins, one when it ends. A crash runs all of it again.
 *
 * @deprecated Use `agentLoop$` in the runner of the flow.
 */
export function agentStep$(options: AgentStepOptions): StepDefinition<AgentLoopInput | string, AgentResult> {
  const { id, name, retry, timeoutMs, deadlineMs, errors, ...runnerOptions } = options;
  const runner = new AgentRunner(runnerOptions);
  return step$({
    id,
    inputSchema: INPUT,
    outputSchema: OUTPUT,
    handler: (input, ctx) => runner.run(input, ctx),
    ...(name !== undefined && { name }),
    ...(retry && { retry }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(deadlineMs !== undefined && { deadlineMs }),
    ...(errors && { errors }),
  });
}
