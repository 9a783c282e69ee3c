// Secrets: what `security.secrets` and `security.sealingKey` say, checked, and what is made of it.

import { Redactor, type SecretResolver } from "../effects/index.js";
import {
  type HeddleError,
  invalidOption,
  KEY_BYTES,
  ONLY_KEY,
  refuseStrangers,
  type SealingKeyRing,
  Vault,
} from "../kernel/index.js";

export interface SecretsConfig {
  /** Looks up what `secretRef(name)` stands for, right before each attempt of an effect in this thread. */
  resolver: SecretResolver;
}

/** 32 random bytes, or a ring of such keys of which new values get the current one. */
export type SealingKey = Uint8Array | SealingKeyRing;

/** @throws CONFIG_INVALID, naming the option */
export function checkSecrets(secrets: unknown): void {
  if (secrets === undefined) return;
  if (typeof secrets !== "object" || secrets === null)
    throw invalid("secrets", "must be an object: { resolver }");
  refuseStrangers("security.secrets.", secrets, ["resolver"]);
  if (typeof (secrets as Partial<SecretsConfig>).resolver !== "function")
    throw invalid("secrets.resolver", "must be a function: (name, ctx) => secret");
}

/** @throws CONFIG_INVALID, naming the option */
export function checkSealingKey(sealingKey: SealingKey | undefined): void {
  if (sealingKey !== undefined) checkRing(readRing(sealingKey));
}

export function vaultOf(sealingKey: SealingKey | undefined): Vault {
  return new Vault(sealingKeysOf(sealingKey));
}

/** A copy: whoever wipes a key once it is handed over is not to have everything sealed with a wiped one. */
export function sealingKeysOf(sealingKey: SealingKey | undefined): SealingKeyRing | undefined {
  if (sealingKey === undefined) return undefined;
  const { current, keys } = readRing(sealingKey);
  const copies = Object.entries(keys).map(([id, key]) => [id, new Uint8Array(key)] as const);
  return { current, keys: Object.fromEntries(copies) };
}

export function redactorOf(secrets: SecretsConfig | undefined, now: () => number): Redactor | undefined {
  return secrets && new Redactor(secrets.resolver, now);
}

function readRing(sealingKey: SealingKey): SealingKeyRing {
  return sealingKey instanceof Uint8Array
    ? { current: ONLY_KEY, keys: { [ONLY_KEY]: sealingKey } }
    : sealingKey;
}

function checkRing(ring: Partial<SealingKeyRing> | null): void {
  const { current, keys } = ring ?? {};
  if (typeof keys !== "object" || keys === null)
    throw invalid("sealingKey", `must be ${KEY_BYTES} random bytes, or { current, keys: { id: bytes } }`);
  for (const [id, key] of Object.entries(keys)) {
    if (id === "") throw invalid("sealingKey", "has a key without an id");
    if (!(key instanceof Uint8Array) || key.length !== KEY_BYTES)
      throw invalid(
        "sealingKey",
        `has a key that is not ${KEY_BYTES} bytes (${id}): make one with crypto.randomBytes(${KEY_BYTES})`,
      );
  }
  if (typeof current !== "string" || !Object.hasOwn(keys, current))
    throw invalid(
      "sealingKey.current",
      `must be the id of one of its keys: ${Object.keys(keys).join(", ") || "none"}`,
    );
}

function invalid(option: string, complaint: string): HeddleError {
  return invalidOption(`security.${option}`, complaint);
}
