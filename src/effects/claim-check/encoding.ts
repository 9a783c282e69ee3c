// A value as bytes and back: bytes as they are, what JSON keeps whole as JSON, anything else as the log would have it.

import {
  fromWire,
  packRecord,
  Special,
  toWire,
  unpackRecord,
  VALUE_DEPTH_MAX,
  type ValueLimits,
  type Wire,
} from "../../kernel/codec/index.js";
import type { ClaimCheckCodec } from "./envelope.js";

export interface Encoded {
  readonly bytes: Uint8Array;
  readonly codec: ClaimCheckCodec | undefined;
}

/** Of what may be put away: a text of V8 ends a little beyond. */
export const OFFLOAD_LIMITS: ValueLimits = { bytesMax: 480 * 1024 * 1024, depthMax: VALUE_DEPTH_MAX };

/** Undefined for what cannot be recorded in any form: that is for the log to refuse. */
export function encodeValue(value: unknown): Encoded | undefined {
  if (isBytes(value)) return { bytes: value, codec: Buffer.isBuffer(value) ? "bytes" : "uint8array" };
  let wire: Wire;
  try {
    wire = toWire(value, OFFLOAD_LIMITS);
  } catch {
    return undefined;
  }
  return isJson(wire)
    ? { bytes: Buffer.from(JSON.stringify(wire)), codec: undefined }
    : { bytes: packRecord(wire), codec: "heddle" };
}

export function decodeValue(bytes: Uint8Array, codec: ClaimCheckCodec | undefined): unknown {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  switch (codec) {
    case "bytes":
      return buffer;
    case "uint8array":
      return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    case "heddle":
      return fromWire(unpackRecord(bytes));
    case undefined:
      return JSON.parse(buffer.toString());
    default:
      throw new TypeError("There is no such codec."); // an envelope that was not made here
  }
}

/** A Buffer or a Uint8Array, and nothing derived from them. */
export function isBytes(value: unknown): value is Uint8Array {
  if (!(value instanceof Uint8Array)) return false;
  const proto: unknown = Object.getPrototypeOf(value);
  return proto === Buffer.prototype || proto === Uint8Array.prototype;
}

/** Whether JSON gives the same value back. */
function isJson(wire: Wire): boolean {
  if (wire === null || typeof wire === "string" || typeof wire === "boolean") return true;
  if (typeof wire === "number") return Number.isFinite(wire);
  if (typeof wire !== "object" || wire instanceof Special || wire instanceof Uint8Array) return false;
  return Array.isArray(wire) ? wire.every(isJson) : Object.values(wire).every(isJson);
}
