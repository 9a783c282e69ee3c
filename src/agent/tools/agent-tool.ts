// agentTool$: an agent as a tool of another one. It runs inside the flow of the outer one, as a loop of its own whose id is the
// call's: its turns, calls and gates are steps and gates of the same execution, told apart by that id.

import { z } from "zod";
import { type AgentDefinition, type Schema, type ToolDefinition, tool$ } from "../../kernel/index.js";
import { AgentLoopConfigError } from "../errors.js";
import type { AgentLoopConfig, AgentLoopInput } from "../loop-config.js";

/** What an inner loop may be told. Its id and its signal come from the call. */
export type AgentToolLoop = Omit<AgentLoopConfig, "definition" | "id" | "signal">;

export interface AgentToolOptions<TIn> {
  readonly agent: AgentDefinition;
  /** Default: the agent's. */
  readonly id?: string;
  /** For the outer model. Default: the agent's. */
  readonly description?: string;
  /** What the outer model has to say. Default: `{ prompt }`. */
  readonly inputSchema?: Schema<TIn>;
  /** What the inner agent is given. Default: the input's `prompt`, or else all of it as JSON. */
  readonly input?: (input: TIn) => AgentLoopInput;
  /** Default: the model of the outer loop, and what a loop does of itself. */
  readonly loop?: AgentToolLoop;
}

export interface AgentTool extends ToolDefinition {
  readonly inner: {
    readonly agent: AgentDefinition;
    readonly input: (input: unknown) => AgentLoopInput;
    readonly loop: AgentToolLoop;
  };
}

const PROMPT = z.object({ prompt: z.string().min(1) });

/**
 * @throws AgentLoopConfigError when neither the options nor the agent say what it is for, or `loop` names what the call names
 */
export function agentTool$<TIn = z.infer<typeof PROMPT>>(options: AgentToolOptions<TIn>): AgentTool {
  const { agent, id = agent.id, description = agent.description, loop = {} } = options;
  if (description === undefined)
    throw new AgentLoopConfigError("agentTool$: description", "is missing, and the agent has none");
  for (const given of ["definition", "id", "signal"])
    if (given in loop) throw new AgentLoopConfigError(`agentTool$: loop.${given}`, "comes from the call");
  const inputSchema: Schema<unknown> = options.inputSchema ?? PROMPT;
  const input = (options.input ?? promptOf) as AgentTool["inner"]["input"];
  const tool = tool$<unknown, unknown>({
    id,
    description,
    kind: "agent",
    inputSchema,
    outputSchema: z.string(),
  });
  return Object.freeze({ ...tool, inner: { agent, input, loop } });
}

export function isAgentTool(tool: ToolDefinition): tool is AgentTool {
  return "inner" in tool;
}

function promptOf(input: unknown): AgentLoopInput {
  const { prompt } = input as { readonly prompt?: unknown };
  return { prompt: typeof prompt === "string" ? prompt : JSON.stringify(input) };
}
