// Calls of tools that are not what the model was told of. Whether one is made is asked when its step is dispatched: what that came to
// is the outcome of the step, and a replay asks nobody.

import { HeddleError, hasCode } from "../../kernel/index.js";
import type { ToolErrorCode } from "../result.js";
import type { ToolChange } from "./tool-menu.js";

/**
 * For `expand` of the call's task: gives the input, or refuses the call.
 *
 * @param refuse says whether a call of a changed tool is refused. One that throws refuses
 * @throws AGENT_TOOL_CHANGED
 */
export function ifAdmitted<T>(
  change: ToolChange,
  refuse: ((change: ToolChange) => boolean) | undefined,
): (input: T) => T {
  return (input) => {
    const { toolId } = change;
    if (!change.now) throw changed(`There is no tool ${toolId} any more.`, toolId, "unknownTool");
    if (refuse && isRefused(change, refuse))
      throw changed(
        `Tool ${toolId} is not what you were told it is, and may not be called.`,
        toolId,
        "refused",
      );
    return input;
  };
}

function isRefused(change: ToolChange, refuse: (change: ToolChange) => boolean): boolean {
  try {
    return refuse(change);
  } catch {
    return true;
  }
}

function changed(message: string, toolId: string, answer: ToolErrorCode): HeddleError {
  return new HeddleError("AGENT_TOOL_CHANGED", message, { details: { toolId, answer } });
}

/** What a call is answered with that was not admitted; undefined for every other failure. A replay has it from the log. */
export function refusalOf(error: unknown): ToolErrorCode | undefined {
  if (!hasCode(error, "AGENT_TOOL_CHANGED")) return undefined;
  const { details } = error as { readonly details?: { readonly answer?: ToolErrorCode } };
  return details?.answer;
}
