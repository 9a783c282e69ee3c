// Timeline: what a reader needs of a schedule: what was asked, what was recorded, which effects began, what went wrong.

import type { Observation } from "../sim/observation.js";
import { lineOf, type TraceEntry } from "../sim/trace.js";

const TOLD: ReadonlySet<Observation["kind"]> = new Set([
  "opened",
  "written",
  "lost",
  "fault",
  "clockSet",
  "asked",
  "acknowledged",
  "begun",
  "outcome",
  "warned",
]);

export function timelineOf(entries: readonly TraceEntry[]): string {
  return entries
    .filter(({ observation }) => TOLD.has(observation.kind))
    .map(lineOf)
    .join("\n");
}
