// Citations: the addresses of content that events mention, and whether the log holds on to what is behind them.

import { Special, type Wire } from "../../codec/index.js";
import type { EventType, ExecutionEvent } from "../../events.js";
import { isRef } from "./content-store.js";

/** By address: whether it is pinned. */
export type Citations = ReadonlyMap<string, boolean>;

const NONE: Citations = new Map();
/** What a program said of its own accord, findings and their evidence. */
const STATEMENTS: ReadonlySet<EventType> = new Set(["DOMAIN_EVENT", "EFFECT_EVENT"]);

export function citationsOf(events: readonly ExecutionEvent[]): Citations {
  let found: Map<string, boolean> | undefined;
  const note = (ref: string, isPinned: boolean): void => {
    found ??= new Map();
    found.set(ref, isPinned || found.get(ref) === true);
  };
  for (const event of events) {
    const isStatement = STATEMENTS.has(event.type);
    for (const field of Object.values(event)) collect(field, isStatement, note);
  }
  return found ?? NONE;
}

function collect(wire: Wire, isPinned: boolean, note: (ref: string, isPinned: boolean) => void): void {
  if (typeof wire === "string") {
    if (isRef(wire)) note(wire, isPinned);
  } else if (typeof wire !== "object" || wire === null || wire instanceof Uint8Array) return;
  else if (wire instanceof Special) for (const part of wire.parts) collect(part, isPinned, note);
  else if (Array.isArray(wire)) for (const item of wire as readonly Wire[]) collect(item, isPinned, note);
  else {
    const fields = wire as { readonly [key: string]: Wire };
    const isRetained = fields["__loomClaimCheck"] === true && fields["retain"] === true;
    const isKept = (isPinned || isRetained) && fields["erasable"] !== true;
    for (const key in fields) collect(fields[key], isKept, note);
  }
}
