// Calls of tools inside one effect: under the ring, and in no step of their own. A crash makes them again, so each has a key by which
// whoever it calls can drop the duplicate, and a tool that may not be called twice is not called at all.
//
// N1  All calls of a turn are looked at before any of them is made: none runs ahead of one that is refused.
// N2  The key of a call is `<outer>:t<turn>:c<position>:<hash>`, the hash being the SHA-256 of its tool's name and its input as canonical
//     JSON, in hexadecimal digits. The same call at the same place has the same key, and any other call another one.

import { isRemote } from "../../effects/effect.js";
import { effectUnknown } from "../../effects/effect-runtime.js";
import type { EffectContext, EffectRuntime, Principal } from "../../effects/index.js";
import { canonicalJson } from "../../kernel/canonical-json.js";
import {
  EffectModeViolationError,
  HeddleError,
  parseOutput,
  parseWith,
  type StepHandlerContext,
  type ToolDefinition,
} from "../../kernel/index.js";
import { sha256 } from "../sha256.js";
import type { RunnableCall } from "../tools/call.js";

/** What an effect is told, or the handler of a step, which runs under the ring too. */
export type OuterContext = StepHandlerContext & Partial<Pick<EffectContext, "principal" | "isPrivate">>;

/** Thrown before any call of the turn is made. Use `agentLoop$`, where each call is a step, or say `acceptAtLeastOnce`. */
export class IdempotentToolRefusedError extends HeddleError {
  override name = "IdempotentToolRefusedError";
  readonly toolId: string;

  constructor(toolId: string) {
    super(
      "IDEMPOTENT_TOOL_REFUSED",
      `Tool ${toolId} may not be called twice (idempotent: false), and here a crash calls it again: run the agent by agentLoop$, or say ` +
        "acceptAtLeastOnce: true.",
      { details: { toolId } },
    );
    this.toolId = toolId;
  }
}

export class NestedCalls {
  readonly #effects: EffectRuntime;
  readonly #acceptAtLeastOnce: boolean;

  constructor(effects: EffectRuntime, acceptAtLeastOnce: boolean) {
    this.#effects = effects;
    this.#acceptAtLeastOnce = acceptAtLeastOnce;
  }

  /** N1 @throws IdempotentToolRefusedError */
  check(calls: readonly RunnableCall[]): void {
    if (this.#acceptAtLeastOnce) return;
    for (const { tool } of calls) {
      const effect = this.#effects.find(effectIdOf(tool));
      if ((tool.idempotent ?? effect?.idempotent) === false) throw new IdempotentToolRefusedError(tool.id);
    }
  }

  /** @throws what the ring, the schemas or the tool object with */
  async make(
    { tool, name, input }: RunnableCall,
    { turn, position }: { readonly turn: number; readonly position: number },
    outer: OuterContext,
  ): Promise<unknown> {
    const toolId = effectIdOf(tool);
    const effect = this.#effects.find(toolId);
    if (!effect)
      throw effectUnknown(`Tool ${tool.id} runs the effect ${toolId}, which is not registered`, toolId);
    if ((tool.mode ?? effect.mode) === "ambient") throw new EffectModeViolationError(toolId, "ambient");
    const ctx = nested(outer, {
      toolId,
      taskKind: tool.kind,
      idempotencyKey: `${outer.idempotencyKey}:t${turn}:c${position}:${sha256(canonicalJson([name, input]))}`,
    });
    const parsed = parseWith(tool.inputSchema, input, "INPUT_INVALID", "input of tool", tool.id);
    const output: unknown = await this.#effects.run(
      ctx,
      parsed,
      (value, inner) => effect.execute(value, inner),
      isRemote(effect),
    );
    return parseOutput(tool, output);
  }
}

function effectIdOf({ id, toolId = id }: ToolDefinition): string {
  return toolId;
}

/** Functions of a context may be used detached, so they are carried over as they are. */
export function nested(
  outer: OuterContext,
  changes: Pick<EffectContext, "toolId" | "taskKind" | "idempotencyKey">,
): EffectContext {
  const { executionId, workflowId, stepId, attempt, signal, emit, meter, isPrivate } = outer;
  const principal: Principal | undefined = outer.principal;
  return {
    executionId,
    workflowId,
    stepId,
    attempt,
    signal,
    emit,
    meter,
    principal,
    ...(isPrivate && { isPrivate }),
    ...changes,
  };
}
