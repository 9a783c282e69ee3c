// Menu: the tools a model may call, and how it is told of them.

import { z } from "zod";
import { type ToolDefinition, unwrapTainted } from "../../kernel/index.js";
import type { LlmToolSpec } from "../../llm/index.js";

const specs = new WeakMap<ToolDefinition, LlmToolSpec>();

export class Menu {
  readonly specs: readonly LlmToolSpec[];
  readonly #tools: ReadonlyMap<string, ToolDefinition>;

  constructor(tools: readonly ToolDefinition[]) {
    this.specs = tools.map(specOf);
    this.#tools = new Map(tools.map((tool) => [tool.id, tool]));
  }

  find(name: string): ToolDefinition | undefined {
    return this.#tools.get(name);
  }
}

function specOf(tool: ToolDefinition): LlmToolSpec {
  const known = specs.get(tool);
  if (known) return known;
  const spec = {
    name: tool.id,
    description: unwrapTainted(tool.description),
    inputSchema: z.toJSONSchema(tool.inputSchema, { io: "input", unrepresentable: "any" }),
  };
  specs.set(tool, spec);
  return spec;
}
