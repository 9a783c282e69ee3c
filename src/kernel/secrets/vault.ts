// Vault: seals marked values before they are written, and opens them for the flow and the effect they belong to. Pure: what it
// makes of a value follows from the key, the execution and the value alone (docs/adr/0012-sealed-values.md).
//
// V1  Keys are those of one execution, derived from the ring's: two executions that hold the same value hold different bytes.
// V2  In one execution the same value under the same key gives the same bytes, so a replay mostly compares without opening.
// V3  What was sealed is opened unchanged or not at all.
// V4  New values are sealed with the current key; the others of the ring are for reading.

import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from "node:crypto";
import {
  fromWire,
  Kind,
  packRecord,
  SEAL_LABELS,
  Sealed,
  type SealedParts,
  type SealLabel,
  toWire,
  type Unseal,
  unpackRecord,
  type ValueLimits,
  type Wire,
} from "../codec/index.js";
import { HeddleError, hasCode } from "../errors.js";
import { Latest } from "../latest.js";
import type { SecretTexts } from "./secret-texts.js";

/** Keys of 32 bytes by the ids that stand in the log. */
export interface SealingKeyRing {
  /** The id of the key that new values are sealed with. */
  readonly current: string;
  readonly keys: Readonly<Record<string, Uint8Array>>;
}

/** The id of a key that was given without one. */
export const ONLY_KEY = "1";
export const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Of what was recorded under some limit. */
const ANY_SIZE: ValueLimits = { bytesMax: Infinity, depthMax: Infinity };
/** Executions whose derived keys are kept at hand. */
const DERIVED_MAX = 512;

/** What is encrypted: a value, and what of it is secret, if not all. */
type Content = readonly [value: Wire, within?: Wire];

/** Runs and attempts whose opened values are kept in mind. */
const RECENT_MAX = 1_024;

interface DerivedKeys {
  readonly cipher: Buffer;
  readonly nonce: Buffer;
}

export class Vault {
  readonly #ring: SealingKeyRing | undefined;
  readonly #derived = new Map<string, DerivedKeys>();
  readonly #recent = new Latest<SecretTexts>(RECENT_MAX);

  /** Without keys it can neither seal nor open. */
  constructor(ring?: SealingKeyRing) {
    this.#ring = ring;
  }

  get hasKey(): boolean {
    return this.#ring !== undefined;
  }

  /** What runs and attempts have opened lately: for what is thrown where none of them catches it. */
  get recent(): Iterable<SecretTexts> {
    return this.#recent;
  }

  noteOpened(texts: SecretTexts): void {
    this.#recent.note(texts);
  }

  /**
   * @param within what is secret of the value, where that is not all of it
   * @throws SEALING_KEY_MISSING, VALUE_NOT_RECORDABLE, VALUE_TOO_LARGE
   */
  seal(
    executionId: string,
    value: unknown,
    label: SealLabel,
    limits: ValueLimits,
    within?: readonly (string | Uint8Array)[],
  ): Sealed {
    if (!this.#ring) throw keyNeeded();
    const wire = recordable(value, label, limits);
    return this.#sealWire(executionId, within ? [wire, toWire(within, ANY_SIZE)] : [wire], label);
  }

  /** The value, and what of it is secret. @throws SEALED_UNREADABLE */
  open(executionId: string, sealed: SealedParts): { readonly value: unknown; readonly secret: unknown } {
    const [wire, within] = this.#open(executionId, sealed);
    const value = fromWire(wire);
    return { value, secret: within === undefined ? value : fromWire(within) };
  }

  /** How values of an execution are opened. @throws SEALED_UNREADABLE */
  opener(executionId: string): Unseal {
    return this.#ring ? (sealed) => this.open(executionId, sealed).value : refuseToOpen;
  }

  /** The wire with everything sealed in it opened, to be compared and not to be written. @throws SEALED_UNREADABLE */
  opened(executionId: string, wire: Wire): Wire {
    return toWire(fromWire(wire, this.opener(executionId)), ANY_SIZE);
  }

  #sealWire(executionId: string, content: Content, label: SealLabel): Sealed {
    const { current } = this.#ring!;
    const keys = this.#keysFor(executionId, current);
    const index = SEAL_LABELS.indexOf(label);
    const plain = packRecord(content);
    const nonce = createHmac("sha256", keys.nonce)
      .update(Buffer.of(index))
      .update(plain)
      .digest()
      .subarray(0, NONCE_BYTES);
    const cipher = createCipheriv("aes-256-gcm", keys.cipher, nonce);
    cipher.setAAD(Buffer.of(index));
    const body = Buffer.concat([cipher.update(plain), cipher.final()]);
    return new Sealed([Kind.sealed, index, current, Buffer.concat([nonce, cipher.getAuthTag(), body])]);
  }

  #open(executionId: string, [, index, keyId, bytes]: SealedParts): Content {
    const keys = this.#keysFor(executionId, keyId);
    try {
      const decipher = createDecipheriv("aes-256-gcm", keys.cipher, bytes.subarray(0, NONCE_BYTES));
      decipher.setAAD(Buffer.of(index));
      decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      const body = bytes.subarray(NONCE_BYTES + TAG_BYTES);
      return unpackRecord(Buffer.concat([decipher.update(body), decipher.final()])) as Content;
    } catch {
      throw new HeddleError(
        "SEALED_UNREADABLE",
        `A sealed value of execution ${executionId} does not open with the key ${keyId}: that is another key than the one it ` +
          "was sealed with, or its record is damaged. Put the right key under this id in security.sealingKey.",
        { details: { executionId, keyId } },
      );
    }
  }

  /** V1 */
  #keysFor(executionId: string, keyId: string): DerivedKeys {
    const name = `${keyId}\0${executionId}`;
    let derived = this.#derived.get(name);
    if (derived) return derived;
    const { keys = {} } = this.#ring ?? {};
    const key = Object.hasOwn(keys, keyId) ? keys[keyId] : undefined;
    if (!key) {
      throw new HeddleError(
        "SEALED_UNREADABLE",
        `A value of execution ${executionId} is sealed with the key ${keyId}, which is not in security.sealingKey. Add ` +
          "it to the ring: keys are needed as long as executions that used them are to go on.",
        { details: { executionId, keyId } },
      );
    }
    const bytes = Buffer.from(hkdfSync("sha256", key, executionId, "heddle sealed values 1", 2 * KEY_BYTES));
    derived = { cipher: bytes.subarray(0, KEY_BYTES), nonce: bytes.subarray(KEY_BYTES) };
    if (this.#derived.size >= DERIVED_MAX) this.#derived.clear();
    this.#derived.set(name, derived);
    return derived;
  }
}

export const NO_VAULT = new Vault();

function refuseToOpen([, , keyId]: SealedParts): never {
  throw new HeddleError(
    "SEALED_UNREADABLE",
    `A value is sealed with the key ${keyId}, and there is no security.sealingKey. Configure the key the execution ` +
      "was started with.",
    { details: { keyId } },
  );
}

export function keyNeeded(): HeddleError {
  return new HeddleError(
    "SEALING_KEY_MISSING",
    "A schema marks a value as sensitive or internal, and there is no key to seal it with; nothing was written. Configure " +
      "security.sealingKey (32 bytes), or pass a credential as secretRef(name), which needs none.",
  );
}

/** The words for a value that cannot be kept name parts of it by what they are called, and it may be they that are secret. */
function recordable(value: unknown, label: SealLabel, limits: ValueLimits): Wire {
  try {
    return toWire(value, limits);
  } catch (error) {
    if (!(error instanceof HeddleError)) throw error;
    const { kind } = error.details;
    const what = hasCode(error, "VALUE_TOO_LARGE") ? "is too large to be kept" : "cannot be kept in the log";
    throw new HeddleError(
      error.code,
      `A value marked as ${label} ${what}${typeof kind === "string" ? `: there is ${kind} in it` : ""}.`,
    );
  }
}
