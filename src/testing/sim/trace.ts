// Trace: what happened, and the words for it. Two runs of one seed have the same words, or the simulation depends on something that
// is not drawn from its seed.

import { type ExecutionEvent, fromWire } from "../../kernel/index.js";
import type { Observation, Observer } from "./observation.js";
import { DAWN } from "./scheduler.js";

export interface TraceEntry {
  /** Milliseconds since the simulation began, as the clock on the wall has it. */
  readonly atMs: number;
  readonly observation: Observation;
}

export class Trace implements Observer {
  readonly entries: TraceEntry[] = [];
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  see(observation: Observation): void {
    this.entries.push({ atMs: this.#now() - DAWN, observation });
  }
}

export function lineOf({ atMs, observation }: TraceEntry): string {
  return `${String(atMs).padStart(9)} ms  ${describe(observation)}`;
}

function describe(seen: Observation): string {
  switch (seen.kind) {
    case "opened":
      return `${seen.process}  opens partition ${seen.partition} (epoch ${seen.epoch})`;
    case "written":
      return `${seen.process}  writes ${seen.executionId} ${seen.record.events
        .map((event, index) => `#${seen.record.sequence + index} ${eventLine(event)}`)
        .join(", ")}`;
    case "flushed":
      return `disk  holds ${seen.executionId} up to #${seen.length - 1}`;
    case "lost":
      return `disk  lost ${seen.executionId} from #${seen.length} on`;
    case "fault":
      return `FAULT ${seen.what}`;
    case "clockSet":
      return `FAULT the clock is set by ${seen.byMs} ms`;
    case "asked":
    case "acknowledged":
      return `${seen.process}  ${seen.kind} ${requestLine(seen.request)}`;
    case "refused":
      return `${seen.process}  refused ${requestLine(seen.request)} (${seen.code})`;
    case "told":
      return `${seen.process}  tells of ${seen.executionId}#${seen.sequence} ${seen.type}`;
    case "shown":
      return `${seen.process}  shows ${seen.state.executionId} ${seen.state.status} at #${seen.state.sequence}`;
    case "saved":
      return `snapshot of ${seen.executionId} as of #${seen.sequence}`;
    case "dispatched":
    case "begun":
      return `${seen.process}  ${seen.kind} ${attemptLine(seen.attempt)}${seen.isFenced ? " (fenced)" : ""}`;
    case "outcome":
      return `${seen.process}  ${attemptLine(seen.attempt)} ${seen.outcome.kind}`;
    case "warned":
      return `${seen.process}  warns ${seen.message}`;
  }
}

type Attempt = Extract<Observation, { readonly kind: "begun" }>["attempt"];
type Asked = Extract<Observation, { readonly kind: "asked" }>["request"];

function attemptLine({ executionId, stepId, attempt }: Attempt): string {
  return `${executionId}/${stepId} attempt ${attempt}`;
}

function requestLine(request: Asked): string {
  const { kind, executionId } = request;
  switch (request.kind) {
    case "resume":
      return `${kind} ${executionId} at ${request.gateId}`;
    case "verdict":
      return `${kind} ${executionId}/${request.stepId}: ${request.verdict}`;
    case "cancel":
      return `${kind} ${executionId}${request.force ? " by force" : ""}`;
    default:
      return `${kind} ${executionId}`;
  }
}

/** Without stacks, which differ between runs of the same code. */
function eventLine(event: ExecutionEvent): string {
  switch (event.type) {
    case "STEP_RETRIED":
      return `${event.type} ${event.stepId} attempt ${event.attempt} (${event.reason})`;
    case "STEP_COMPLETED":
      return `${event.type} ${event.stepId} ${shown(event.output)}`;
    case "EXECUTION_COMPLETED":
      return `${event.type} ${shown(event.output)}`;
    case "STEP_FAILED":
    case "EXECUTION_FAILED":
      return `${event.type} ${"stepId" in event ? `${event.stepId} ` : ""}${shown(event.error)}`;
    case "VALUE_RECORDED":
      return `${event.type} ${event.name} ${shown(event.value)}`;
    case "GATE_EVENT":
      return `${event.name} ${event.gateId} ${shown(event.payload)}`;
    case "DOMAIN_EVENT":
      return `${event.name} ${shown(event.payload)}`;
    default:
      return "stepId" in event
        ? `${event.type} ${event.stepId}`
        : "gateId" in event
          ? `${event.type} ${event.gateId}`
          : event.type;
  }
}

const SHOWN_MAX = 120;

function shown(wire: Parameters<typeof fromWire>[0]): string {
  const value = fromWire(wire);
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  const text =
    JSON.stringify(value, (_, part: unknown) => (typeof part === "bigint" ? `${part}n` : part)) ?? "-";
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}...` : text;
}
