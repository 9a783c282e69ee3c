// Gates: which open gate a resume means, and whether its payload may enter.

import type { z } from "zod";
import {
  describeIssues,
  type FlowDefinition,
  HeddleError,
  issuesOf,
  parseSync,
  ResumePayloadValidationError,
} from "../kernel/index.js";
import type { ResumeRequest } from "./messages.js";

export interface OpenGate {
  readonly kind: "event" | "sleep";
  readonly on: string;
  readonly correlationKey: string | undefined;
  readonly wakeAt: number | undefined;
}

/**
 * The one gate a resume is for, or undefined when none is open. With several of its name open it has to say which, by
 * `gateId` or `correlationKey`: guessing would hand a payload to the wrong branch.
 */
export function chooseGate<G extends OpenGate>(
  executionId: string,
  gates: ReadonlyMap<string, G>,
  request: ResumeRequest,
): { gateId: string; gate: G } | undefined {
  const candidates: { gateId: string; gate: G }[] = [];
  for (const [gateId, gate] of gates) {
    if (gate.kind !== "event" || gate.on !== request.eventType) continue;
    if (request.gateId !== undefined && request.gateId !== gateId) continue;
    if (request.correlationKey !== undefined && request.correlationKey !== gate.correlationKey) continue;
    candidates.push({ gateId, gate });
  }
  if (candidates.length <= 1) return candidates[0];
  const open = candidates.map(({ gateId }) => gateId);
  throw new HeddleError(
    "GATE_AMBIGUOUS",
    `Execution ${executionId} has ${open.length} open gates named ${request.eventType}: name one by gateId (${open.slice(0, 5).join(", ")}) or correlationKey.`,
    { details: { executionId, eventType: request.eventType, open } },
  );
}

/** What the flow declares of the payloads of a gate, if anything. */
export function gateSchema({ resumeSchemas = {} }: FlowDefinition, on: string): z.ZodType | undefined {
  return Object.hasOwn(resumeSchemas, on) ? resumeSchemas[on] : undefined;
}

/** The payload as it will be recorded: parsed by the gate's schema, if the flow declares one (guide, section 4). */
export function checkResumePayload(
  definition: FlowDefinition,
  executionId: string,
  request: ResumeRequest,
): unknown {
  const schema = gateSchema(definition, request.eventType);
  if (!schema) return request.payload;
  const parsed = parseSync(schema, request.payload, "payload of gate", request.eventType);
  if (parsed.success) return parsed.data;
  const issues = issuesOf(parsed.error);
  throw new ResumePayloadValidationError(
    `The payload for ${request.eventType} of execution ${executionId} does not satisfy its schema: ${describeIssues(issues)}. Nothing was recorded; the gate is still open.`,
    issues,
    { executionId, eventType: request.eventType },
  );
}
