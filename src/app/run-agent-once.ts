// runAgentOnce: one run of an agent, for scripts and tests. It builds an app in memory and a flow of one loop, and keeps nothing; all
// else is as in any app, so what an app would deny is denied here.

import type { AgentLoopConfig, AgentLoopInput, AgentResult } from "../agent/index.js";
import type { EffectRuntime, Principal } from "../effects/index.js";
import {
  type AgentDefinition,
  defineFlow,
  type EventEnvelope,
  type ExecutionContext,
  flow$,
  invalidOption,
  refuseStrangers,
} from "../kernel/index.js";
import type { LlmProvider } from "../llm/index.js";
import type { LoomConfig } from "./config.js";
import { defineConfig } from "./define-config.js";

export interface RunAgentOnceOptions {
  readonly agent: AgentDefinition;
  /** Registered as the effect that the loop asks (`loop.modelToolId`, or "model"). Without it, register one. */
  readonly provider?: LlmProvider;
  /** Registers what tools run. */
  readonly registerEffects?: (effects: EffectRuntime) => void;
  /** A prompt, or all that `agentLoop$` takes. */
  readonly input?: string | AgentLoopInput;
  /** What `agentLoop$` takes beside the agent. */
  readonly loop?: Omit<AgentLoopConfig, "definition">;
  /** Who it runs for, as authority and budgets see it. */
  readonly principal?: Principal;
  /** Of `defineConfig`, all but where things are kept and what runs. */
  readonly config?: Pick<LoomConfig, "security" | "observability" | "execution">;
}

export type AgentRunOutcome =
  | {
      readonly status: "completed";
      readonly output: AgentResult;
      /** The log of the run. */
      readonly events: readonly EventEnvelope[];
    }
  | {
      /** It waits for somebody's answer, and nobody can give one any more: the run is gone with its app. */
      readonly status: "suspended";
      readonly output?: undefined;
      readonly events: readonly EventEnvelope[];
    };

const OPTIONS = ["agent", "provider", "registerEffects", "input", "loop", "principal", "config"];

/**
 * Runs an agent once and keeps nothing of it. In production an agent is a loop in a registered flow, over a log that lasts.
 *
 * @throws CONFIG_INVALID for an option there is none of, and where the model's effect is given twice, by `provider` and by
 *   `registerEffects`; what `agentLoop$` throws, as it throws it
 */
export async function runAgentOnce(options: RunAgentOnceOptions): Promise<AgentRunOutcome> {
  refuseStrangers("runAgentOnce: ", options, OPTIONS);
  const { agent, input = {}, loop = {}, principal, config = {} } = options;
  // Loaded now: nobody who runs no agents this way pays for what agents need.
  const [{ agentLoop$, createAgentModelEffect }, { z }] = await Promise.all([
    import("../agent/index.js"),
    import("zod"),
  ]);
  const modelToolId = loop.modelToolId ?? "model";
  const loopConfig = { definition: agent, ...(!loop.reasoning && { modelToolId }), ...loop };
  const loopInput = typeof input === "string" ? { prompt: input } : input;

  let failure: { readonly error: unknown } | undefined;
  const run = async (ctx: ExecutionContext): Promise<AgentResult> => {
    try {
      return await agentLoop$(ctx, loopConfig, loopInput);
    } catch (error) {
      failure = { error };
      throw error;
    }
  };
  const anything = z.custom<AgentResult>(() => true);
  const flow = defineFlow(
    flow$({ id: "run-agent-once", version: "1", inputSchema: z.unknown(), outputSchema: anything }),
    run,
  );
  const app = defineConfig({
    ...config,
    storage: { kind: "memory" },
    flows: [flow],
    execution: {
      ...config.execution,
      registerEffects: (effects) => {
        config.execution?.registerEffects?.(effects);
        options.registerEffects?.(effects);
        if (!options.provider) return;
        if (effects.find(modelToolId))
          throw invalidOption(
            "runAgentOnce: provider",
            `is registered as ${modelToolId}, and so is another effect: give one of them, or loop.modelToolId another name`,
          );
        effects.register(modelToolId, createAgentModelEffect(options.provider));
      },
    },
  });
  try {
    const handle = await app.runtime.start(flow, null, principal === undefined ? {} : { principal });
    const { status } = await handle.settled();
    if (failure) throw failure.error;
    const events = await app.stores.eventStore.read(handle.executionId);
    if (status === "suspended") return { status, events };
    return { status: "completed", output: await handle.result(), events };
  } finally {
    await app.close();
  }
}
