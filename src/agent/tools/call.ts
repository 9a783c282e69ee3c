// Calls: what a model asked for, held against the tools there are. Nothing a model writes is believed.

import { z } from "zod";
import {
  describeIssues,
  type HeddleError,
  issuesOf,
  parseSync,
  type ToolDefinition,
} from "../../kernel/index.js";
import type { LlmToolCall } from "../../llm/index.js";
import type { ToolCallRequest } from "../loop-config.js";
import type { MetaTool } from "../menu/meta-tool.js";
import type { ToolCallError } from "../result.js";

/** A call that can be made. */
export interface RunnableCall extends ToolCallRequest {
  readonly kind: "runnable";
  readonly stepId: string;
  readonly tool: ToolDefinition;
}

/** A call that the model got wrong. */
export interface WrongCall extends ToolCallRequest {
  readonly kind: "wrong";
  readonly stepId: string;
  readonly error: ToolCallError;
}

/** A call that the loop answers itself. */
export interface MetaCall extends ToolCallRequest {
  readonly kind: "meta";
  readonly stepId: string;
  readonly meta: MetaTool;
}

export type Call = RunnableCall | MetaCall | WrongCall;

interface Menu {
  readonly menu: { find(name: string): ToolDefinition | undefined };
  readonly metaTools: ReadonlyMap<string, MetaTool>;
}

/** @param turnId of the turn in which they were made */
export function readCalls(
  calls: readonly LlmToolCall[],
  turnId: string,
  { menu, metaTools }: Menu,
  callsMax: number,
): readonly Call[] {
  return calls.map((call, index): Call => {
    const { id, name, input, malformed } = call;
    const stepId = `${turnId}:tool:${index}`;
    const wrong = (code: ToolCallError["code"], message: string): WrongCall => ({
      kind: "wrong",
      id,
      name,
      input: malformed ?? input,
      stepId,
      error: { code, message },
    });
    if (index >= callsMax)
      return wrong("tooManyCalls", `Only ${callsMax} calls are answered in one turn. Ask again in the next.`);
    const meta = metaTools.get(name);
    if (meta) return { kind: "meta", id, name, input, stepId, meta };
    const tool = menu.find(name);
    if (!tool) return wrong("unknownTool", `There is no tool of the name ${JSON.stringify(name)}.`);
    if (malformed !== undefined)
      return wrong("malformedInput", "The arguments are no valid JSON. Make the call again.");
    const complaint = complaintOf(tool, input);
    if (complaint !== undefined) return wrong("invalidInput", `The arguments do not fit: ${complaint}.`);
    return { kind: "runnable", id, name, input, stepId, tool };
  });
}

/** @throws CONFIG_INVALID for a schema that can only be parsed asynchronously */
function complaintOf({ id, inputSchema }: ToolDefinition, input: unknown): string | undefined {
  try {
    const parsed = parseSync(inputSchema, input, "input of tool", id);
    return parsed.success ? undefined : describeIssues(issuesOf(parsed.error));
  } catch (error) {
    // A transform that throws at what it is given, such as `new URL`, has refused it.
    const { cause } = error as HeddleError;
    if (cause instanceof z.core.$ZodAsyncError) throw error;
    return cause instanceof Error ? cause.message : String(cause);
  }
}
