// The claim check: what a log records instead of a value that is too large for it.

/** How the bytes stand for the value. Absent in an envelope: the JSON text of it. */
export type ClaimCheckCodec =
  /** The bytes are the value: a Buffer, or what a stream gave. */
  | "bytes"
  | "uint8array"
  /** The form values have in the log, for what JSON would lose. */
  | "heddle";

export interface ClaimCheckEnvelope {
  readonly __loomClaimCheck: true;
  /** The address of the content. */
  readonly ref: string;
  /** Of the content, in bytes. */
  readonly size: number;
  /** What the digest of the tool made of the value: what a flow may branch on. */
  readonly digest?: unknown;
  readonly codec?: ClaimCheckCodec;
  /** What a stream says of itself: a MIME type. */
  readonly contentType?: string;
  /** The content stays as long as a log has this envelope. */
  readonly retain?: true;
}

export function isClaimCheck(value: unknown): value is ClaimCheckEnvelope {
  if (typeof value !== "object" || value === null) return false;
  const { __loomClaimCheck: mark } = value as { readonly __loomClaimCheck?: unknown };
  if (mark !== true) return false; // the result of nearly every step
  const { ref, size } = value as { readonly ref?: unknown; readonly size?: unknown };
  return typeof ref === "string" && typeof size === "number";
}
