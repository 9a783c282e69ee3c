// readReasoning: what models thought in an execution, for an auditor. The log says that they did, and by digest what; the store has the
// words, for as long as nobody erased them.

import { type EventEnvelope, type EventStore, type Tainted, tainted } from "../../kernel/index.js";
import type { ReasoningPart } from "../../llm/index.js";
import { type CapturedReasoning, REASONING_CAPTURED } from "./capture.js";
import { type ReasoningStore, unseal } from "./sealed-text.js";

/**
 * `ok`: the text is what the log says it was. `redacted`: there never was a text to keep, the vendor withheld it or it might not be
 * kept. `erased`: it is not in the store any more. `digest-mismatch`: what is there is another text, or another execution's.
 */
export type ReasoningStatus = "ok" | "redacted" | "erased" | "digest-mismatch";

export interface ReasoningRecord {
  readonly stepId: string;
  /** Which attempt of the step it was. More than one may have reasoned. */
  readonly attempt: number;
  /** Its place in what this attempt gave, from 0. */
  readonly index: number;
  readonly status: ReasoningStatus;
  readonly kind: ReasoningPart["kind"];
  readonly provider: string;
  readonly reference?: string;
  readonly digest?: string;
  /** Where the status is `ok`. A model wrote it, and it may quote anything the model has read. */
  readonly text?: Tainted<string>;
}

export interface ReadReasoningOptions {
  readonly executionId: string;
  /** Default: all steps. */
  readonly stepId?: string;
}

/**
 * In the order in which it was captured.
 *
 * @throws what log or store fail with: an outage is not taken for an erasure
 */
export async function readReasoning(
  log: Pick<EventStore, "read">,
  store: ReasoningStore,
  { executionId, stepId }: ReadReasoningOptions,
): Promise<ReasoningRecord[]> {
  const records: ReasoningRecord[] = [];
  for (const event of await log.read(executionId)) {
    const captured = capturedIn(event);
    if (!captured || (stepId !== undefined && captured.stepId !== stepId)) continue;
    for (const [index, part] of captured.parts.entries())
      records.push({
        stepId: captured.stepId,
        attempt: captured.attempt,
        index,
        ...(await recordOf(part, store, executionId)),
      });
  }
  return records;
}

async function recordOf(
  { kind, provider, reference, digest }: ReasoningPart,
  store: ReasoningStore,
  executionId: string,
): Promise<Omit<ReasoningRecord, "stepId" | "attempt" | "index">> {
  if (reference === undefined) return { status: "redacted", kind, provider };
  const unsealed = await unseal(store, executionId, { reference, digest });
  return {
    status: unsealed.status,
    kind,
    provider,
    reference,
    ...(digest !== undefined && { digest }),
    ...(unsealed.status === "ok" && { text: tainted(unsealed.text, `reasoning:${provider}`) }),
  };
}

/** Flows may emit what they like under any name. */
function capturedIn({ type, payload }: EventEnvelope): CapturedReasoning | undefined {
  if (type !== REASONING_CAPTURED) return undefined;
  const { stepId, attempt, parts } = (payload ?? {}) as Partial<CapturedReasoning>;
  if (typeof stepId !== "string" || typeof attempt !== "number" || !Array.isArray(parts)) return undefined;
  return { stepId, attempt, erasable: true, parts: parts.filter(isPart) };
}

function isPart(value: unknown): value is ReasoningPart {
  return typeof (value as { readonly provider?: unknown } | null)?.provider === "string";
}
