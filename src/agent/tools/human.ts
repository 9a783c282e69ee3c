// Tools of kind "human": a person is the tool. The execution parks until somebody answers, for as long as that takes.

import { parseSync } from "../../kernel/index.js";
import type { AgentRun } from "../turn/run.js";
import { askPeople } from "./ask-people.js";
import type { RunnableCall } from "./call.js";
import { resulted, type ToolAnswer } from "./tool-answer.js";

/** What the gate is resumed with is the result, as the tool's `outputSchema` has it. */
export async function askHuman(run: AgentRun, call: RunnableCall): Promise<ToolAnswer> {
  const { humanGate, maxToolResultBytes } = run.settings;
  const { id, outputSchema } = call.tool;
  const { value } = await askPeople<{ readonly value: unknown }>(run, humanGate, call, (payload) => {
    const parsed = parseSync(outputSchema, payload, "answer to tool", id);
    return parsed.success ? { answer: { value: parsed.data } } : { fault: "malformed" };
  });
  return resulted(call, value, maxToolResultBytes);
}
