// Secrecy: what one run of a flow, or one attempt at a step, keeps to itself. It opens sealed values for those they belong to,
// remembers them, and sees to it that nothing readable goes out with them.
//
// Y1  What a schema marks is sealed. So is what no schema marks and holds a value that was sealed: a mark follows its value.
// Y2  Errors, events and stream pieces are texts for readers: sealed values in them are replaced, not sealed.
// Y3  What is remembered depends on what was opened before, in the order of the log, so a replay seals and replaces the same.

import {
  failureToWire,
  fromWire,
  rewriteWire,
  toWire,
  type Unseal,
  type ValueLimits,
  type Wire,
} from "../codec/index.js";
import type { TypedFailure } from "../errors.js";
import { type Conceal, concealMarked, hasMarks } from "./marks.js";
import { SecretTexts } from "./secret-texts.js";
import { keyNeeded, NO_VAULT, type Vault } from "./vault.js";

export interface Secrecy {
  /** Whether anything was opened or sealed so far. */
  readonly hasSecrets: boolean;
  /** The value, its sealed parts opened. @throws SEALED_UNREADABLE */
  reveal(wire: Wire): unknown;
  /** Takes a value for one that may not be read. */
  remember(value: unknown): void;
  /** Its wire, with what may not be read sealed (Y1). @throws SEALING_KEY_MISSING and what `toWire` throws */
  wireOf(value: unknown, schema: unknown, limits: ValueLimits): Wire;
  /** For readers (Y2). */
  scrub(wire: Wire): Wire;
  /** The same of a value that goes on as one. */
  shown(value: unknown, limits: ValueLimits): unknown;
  /** The same of something thrown. */
  failure(thrown: unknown): Wire;
  /** Whether a value holds anything that was opened or sealed so far. */
  isIn(value: unknown, limits: ValueLimits): boolean;
  /** Refuses a schema with marks before there is a value, where one could not be sealed. @throws SEALING_KEY_MISSING */
  check(schema: unknown): void;
}

/** Says what key is lacking. Made once: every value of every execution is opened by it. */
const UNSEALED = NO_VAULT.opener("");

/** Without a key nothing is sealed, so there is nothing to remember. Shared by all. */
const NO_SECRECY: Secrecy = {
  hasSecrets: false,
  reveal: (wire) => fromWire(wire, UNSEALED),
  remember: () => {},
  wireOf: (value, schema, limits) => {
    // Refused unless everything that is marked is absent or a reference.
    if (hasMarks(schema)) concealMarked(schema, value, refuse);
    return toWire(value, limits);
  },
  scrub: (wire) => wire,
  shown: (value) => value,
  isIn: () => false,
  failure: (thrown) => failureToWire(thrown),
  check: (schema) => {
    if (hasMarks(schema)) refuse();
  },
};

function refuse(): never {
  throw keyNeeded();
}

export function secrecyOf(vault: Vault, executionId: string): Secrecy {
  return vault.hasKey ? new KeptSecrecy(vault, executionId) : NO_SECRECY;
}

class KeptSecrecy implements Secrecy {
  readonly #vault: Vault;
  readonly #executionId: string;
  readonly #unseal: Unseal;
  #texts: SecretTexts | undefined;

  constructor(vault: Vault, executionId: string) {
    this.#vault = vault;
    this.#executionId = executionId;
    this.#unseal = (sealed) => {
      const { value, secret } = vault.open(executionId, sealed);
      this.remember(secret);
      return value;
    };
  }

  get hasSecrets(): boolean {
    return this.#texts !== undefined;
  }

  reveal(wire: Wire): unknown {
    return fromWire(wire, this.#unseal);
  }

  wireOf(value: unknown, schema: unknown, limits: ValueLimits): Wire {
    const seal: Conceal = (part, label) => {
      this.remember(part);
      return this.#vault.seal(this.#executionId, part, label, limits);
    };
    const wire = toWire(hasMarks(schema) ? concealMarked(schema, value, seal) : value, limits);
    const texts = this.#texts;
    if (!texts?.isIn(wire)) return wire;
    const within = new Set<string | Buffer>();
    const sealed = (part: unknown, text: string): Wire => {
      const found = texts.foundIn(text);
      for (const secret of found) within.add(secret);
      return this.#vault.seal(this.#executionId, part, "sensitive", limits, found).special;
    };
    let isAllOver = false;
    const rewritten = rewriteWire(wire, {
      text: (text) => (texts.isInText(text) ? sealed(text, text) : text),
      number: (number) => (texts.isInText(String(number)) ? sealed(number, String(number)) : number),
      // Neither of these can be a sealed value.
      key: (key) => {
        const found = texts.foundIn(key);
        for (const secret of found) within.add(secret);
        isAllOver ||= found.length > 0;
        return key;
      },
      bytes: (bytes) => {
        if (texts.isIn(bytes)) {
          isAllOver = true;
          within.add(Buffer.from(bytes));
        }
        return bytes;
      },
    });
    if (!isAllOver) return rewritten;
    return this.#vault.seal(this.#executionId, value, "sensitive", limits, [...within]).special;
  }

  scrub(wire: Wire): Wire {
    return this.#texts?.scrub(wire) ?? wire;
  }

  shown(value: unknown, limits: ValueLimits): unknown {
    const wire = toWire(value, limits);
    const scrubbed = this.scrub(wire);
    return scrubbed === wire ? value : fromWire(scrubbed);
  }

  isIn(value: unknown, limits: ValueLimits): boolean {
    return this.#texts?.isIn(toWire(value, limits)) ?? false;
  }

  failure(thrown: unknown): Wire {
    return this.scrub(failureToWire(thrown));
  }

  check(): void {}

  remember(secret: unknown): void {
    if (!this.#texts) {
      this.#texts = new SecretTexts("sensitive");
      this.#vault.noteOpened(this.#texts);
    }
    this.#texts.add(secret);
  }
}

/** Keeps the payload of a failure out of what is recorded of it as an error: it has a record of its own. */
export function hidePayload(failure: TypedFailure): void {
  Object.defineProperty(failure, "payload", { enumerable: false });
}
