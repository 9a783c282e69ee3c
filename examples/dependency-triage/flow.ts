// The flow: one agent, from a prompt to its answer. What an approval gate takes is checked before it is recorded.

import { defineFlow, flow$ } from "heddle";
import { type AgentResult, agentApproval, agentLoop$ } from "heddle/agent";
import { z } from "zod";
import { triageAgent } from "./agent.js";

export const MODEL = "model";
export const APPROVAL = "AgentToolApproval";

export const triageFlow = defineFlow(
  flow$({
    id: "dependency-triage",
    version: "1.0.0",
    inputSchema: z.object({ prompt: z.string() }),
    outputSchema: z.custom<AgentResult>(() => true),
    resumeSchemas: { [APPROVAL]: agentApproval },
  }),
  async (ctx, { prompt }) =>
    agentLoop$(
      ctx,
      {
        definition: triageAgent,
        modelToolId: MODEL,
        needsApproval: ({ name }) => name === "propose_change",
        approvalGate: APPROVAL,
        maxIterations: 15,
      },
      { prompt },
    ),
);
