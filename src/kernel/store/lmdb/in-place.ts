// Values in place: hands lmdb-js a record inside the packer's block of memory. It takes the address of the block, adds
// `start`, and keeps the block alive until the write is done, as it does with the blocks of its own encoder. A view of
// the bytes would cost more than the packing of a small record.

import { createRequire } from "node:module";
import { packInPlace, type Wire } from "../../codec/index.js";

const require = createRequire(import.meta.url);
let asBinary: ((bytes: Uint8Array) => Uint8Array) | undefined;

/** The record as a value to be put at once. */
export function valueInPlace(body: Wire): Uint8Array {
  // Loaded by the first write, like the rest of lmdb-js: by then it is there.
  asBinary ??= (require("lmdb") as typeof import("lmdb")).asBinary as unknown as typeof asBinary;
  return asBinary!(packInPlace(body));
}
