// The codec: every value between a flow and the log passes through here.
//
// `toWire` cuts a value off from the program and refuses what cannot be kept; `fromWire` gives a fresh copy of it.
// The live flow gets the same copy as a replay. `packRecord` and `unpackRecord` are the bytes in between.
// The table of what is kept, and how, is docs/values.md.

export { describeValue, isPlain } from "./describe.js";
export { firstDifference, sameWire } from "./difference.js";
export { failureToWire } from "./failure.js";
export { fromWire, type Unseal } from "./from-wire.js";
export { packInPlace, packRecord, unpackRecord } from "./record.js";
export { rewriteWire } from "./rewrite.js";
export {
  Kind,
  placeholder,
  SEAL_LABELS,
  Sealed,
  type SealedParts,
  type SealLabel,
  Special,
  type Wire,
} from "./special.js";
export {
  toWire,
  VALUE_DEPTH_MAX,
  VALUE_LIMITS,
  type ValueLimits,
} from "./to-wire.js";
export { wireBytes } from "./wire-bytes.js";
