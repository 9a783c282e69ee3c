// Cleansing: the secrets taken out of something that was thrown where nothing caught it, and that is about to be told to others.

import { failureToWire, fromWire } from "../../kernel/codec/index.js";
import type { SecretTexts } from "../../kernel/secrets/secret-texts.js";

/** Changes the thing itself: a thread that ends hands on no other. A thrown text cannot be changed. */
export function cleanse(thrown: unknown, secrets: Iterable<SecretTexts>): void {
  if (typeof thrown !== "object" || thrown === null) return;
  for (const texts of secrets) {
    const wire = failureToWire(thrown);
    const scrubbed = texts.scrub(wire);
    if (scrubbed === wire) continue;
    const clean = fromWire(scrubbed) as object;
    for (const key of Reflect.ownKeys(thrown)) {
      const value: unknown = Reflect.get(clean, key);
      if (!Reflect.defineProperty(thrown, key, { value })) Reflect.deleteProperty(thrown, key);
    }
  }
}
