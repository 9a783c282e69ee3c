// Blobs: large runs of bytes in an input, which cross to a thread beside its packet instead of in it. A packet copies what it
// carries several times, and is bounded for that reason.
//
// They are looked for where people put them: the input itself, or a property of it.

const BLOB_BYTES = 1024 * 1024;

export interface Blob {
  /** Null: the input itself. */
  readonly key: string | null;
  /** A Buffer that crosses comes out as a plain Uint8Array. */
  readonly isBuffer: boolean;
  readonly bytes: Uint8Array;
}

export interface Lightened {
  /** With null in the places of the blobs. */
  readonly input: unknown;
  readonly blobs: readonly Blob[];
}

export function withoutBlobs(input: unknown): Lightened {
  if (isBlob(input))
    return { input: null, blobs: [{ key: null, isBuffer: Buffer.isBuffer(input), bytes: input }] };
  if (typeof input !== "object" || input === null || Object.getPrototypeOf(input) !== Object.prototype)
    return { input, blobs: [] };
  const blobs: Blob[] = [];
  const rest: Record<string, unknown> = { ...input };
  for (const [key, bytes] of Object.entries(rest)) {
    if (!isBlob(bytes)) continue;
    blobs.push({ key, isBuffer: Buffer.isBuffer(bytes), bytes });
    rest[key] = null;
  }
  return { input: rest, blobs };
}

export function withBlobs(input: unknown, blobs: readonly Blob[]): unknown {
  for (const { key, isBuffer, bytes } of blobs) {
    const blob = isBuffer ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length) : bytes;
    if (key === null) return blob;
    (input as Record<string, unknown>)[key] = blob;
  }
  return input;
}

function isBlob(value: unknown): value is Uint8Array {
  if (!(value instanceof Uint8Array) || value.length <= BLOB_BYTES) return false;
  const proto: unknown = Object.getPrototypeOf(value); // a class of its own is no business of ours
  return proto === Buffer.prototype || proto === Uint8Array.prototype;
}
