// Triage: opens the log and brings the agent to its end. Nothing here deals with restarts: what the last process left unfinished heddle
// takes up again when the log is opened, and starting an execution that exists attaches to it.

import { defineConfig, type EventEnvelope, type ExecutionState, type HeddleApp, lmdbStorage } from "heddle";
import { createAgentModelEffect, pendingCalls } from "heddle/agent";
import type { Counter } from "../shared/counter.js";
import { Change, registerTools, triageAgent } from "./agent.js";
import type { Approver } from "./approval.js";
import type { TriageData } from "./data.js";
import { MODEL, triageFlow } from "./flow.js";
import type { Model } from "./model.js";
import type { Screen } from "./screen.js";

export interface TriageOptions {
  readonly tree: string;
  readonly data: TriageData;
  readonly model: Model;
  readonly counter: Counter;
  readonly approver: Approver;
  readonly screen: Screen;
  /** Ends the run early; the log is closed in good order. */
  readonly signal: AbortSignal;
}

export type Ending =
  | { readonly kind: "finished"; readonly state: ExecutionState; readonly events: readonly EventEnvelope[] }
  /** Somebody pressed Ctrl-C, or wants to decide later. */
  | { readonly kind: "stopped" };

export const EXECUTION_ID = "triage";
const PROMPT = "Look through the dependencies of this project and propose one change, if any.";

export async function triage(options: TriageOptions): Promise<Ending> {
  const { tree, data, model, counter, screen, signal } = options;
  const app = defineConfig({
    storage: lmdbStorage({ dir: data.log }),
    flows: [triageFlow],
    agents: [triageAgent],
    execution: {
      registerEffects: (effects) => {
        effects.register(MODEL, createAgentModelEffect(model.provider));
        registerTools(effects, tree, data.proposals);
      },
      effectMiddleware: [counter.middleware],
    },
    observability: {
      reasoning: { store: "log" },
      onEvent: (event) => screen.event(event),
      onDurableEvent: counter.onDurableEvent,
      onWarn: (message) => screen.say(message),
    },
    autostart: false,
  });
  const onAbort = (): void => void app.close();
  signal.addEventListener("abort", onAbort);
  try {
    signal.throwIfAborted();
    await counter.catchUp(app.stores.eventStore);
    await app.start();
    return await run(app, options);
  } catch (error) {
    if (signal.aborted) return { kind: "stopped" }; // closing has ended whatever we were waiting for
    throw error;
  } finally {
    signal.removeEventListener("abort", onAbort);
    await app.close();
  }
}

async function run(app: HeddleApp, { approver, screen }: TriageOptions): Promise<Ending> {
  const handle = await app.runtime.start(triageFlow, { prompt: PROMPT }, { executionId: EXECUTION_ID });
  for (;;) {
    const state = await handle.settled();
    if (state.status !== "suspended")
      return { kind: "finished", state, events: await app.stores.eventStore.read(EXECUTION_ID) };
    for (const { on, correlationKey, input } of pendingCalls(state)) {
      screen.introduceQuestion(approver);
      const decision = await approver.decide(Change.parse(input));
      if (!decision) return { kind: "stopped" };
      screen.decided(decision);
      await app.runtime.resume(EXECUTION_ID, { eventType: on, correlationKey, payload: decision });
    }
  }
}
