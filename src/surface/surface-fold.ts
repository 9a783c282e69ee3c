// SurfaceFold: a surface as a pure function of the patches in a log.

import type { EventEnvelope, PatchOperation } from "../kernel/index.js";

export type SurfaceState = Record<string, unknown>;

interface Patch {
  readonly operation: PatchOperation;
  readonly key: string;
  readonly value: unknown;
  readonly surface?: string;
}

/**
 * Applies one event to the state of `surfaceId`, which the caller owns. A patch that names no surface is for all of
 * them. `append` grows the list in place, so a list built patch by patch costs time in proportion to its length.
 */
export function applyPatch(state: SurfaceState, event: EventEnvelope, surfaceId: string): void {
  if (event.type !== "SURFACE_PATCH") return;
  const { operation, key, value, surface } = event.payload as Patch;
  if (surface !== undefined && surface !== surfaceId) return;
  const present = state[key];
  switch (operation) {
    case "set":
      state[key] = value;
      return;
    case "merge":
      state[key] = { ...(isRecord(present) ? present : {}), ...(isRecord(value) ? value : {}) };
      return;
    case "append":
      if (Array.isArray(present)) present.push(value);
      else state[key] = [value];
      return;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
