import { Special, type Wire } from "./special.js";

/** About how much memory a wire takes while it waits: enough to bound a queue by, and cheap to ask for. */
export function wireBytes(wire: Wire): number {
  if (typeof wire === "string") return 16 + wire.length;
  if (typeof wire !== "object" || wire === null) return 8;
  if (wire instanceof Uint8Array) return 64 + wire.byteLength;
  let bytes = 16;
  if (wire instanceof Special) for (const part of wire.parts) bytes += wireBytes(part);
  else if (Array.isArray(wire)) for (const item of wire as readonly Wire[]) bytes += wireBytes(item);
  else {
    const fields = wire as { readonly [key: string]: Wire };
    for (const key in fields) bytes += 16 + key.length + wireBytes(fields[key]);
  }
  return bytes;
}
