// Secret references: the name of a credential, where the credential itself would be. What enters the log is the name; the
// thread that runs the effect looks it up, right before the effect runs.

import { HeddleError } from "../errors.js";

const REF = "__heddleSecret";

/**
 * Stands for the text of a secret. In flows and in the log it is an object with the secret's name; an effect gets the text,
 * which is what the type says.
 */
export type SecretRef = string & { readonly [REF]: string };

/**
 * A reference to a secret, which `security.secrets.resolver` looks up.
 *
 * @param name what the resolver knows it by. It stands in the log
 * @throws INPUT_INVALID for a name that is no text, or empty
 */
export function secretRef(name: string): SecretRef {
  if (typeof name !== "string" || name === "")
    throw new HeddleError("INPUT_INVALID", 'secretRef(name): name the secret, as in "stripe.key".');
  const ref: object = { [REF]: name };
  return ref as SecretRef;
}

/**
 * Whether a value is text or a reference to one: for schemas of credentials, which take both.
 * `sensitive(z.custom<string>(isSecretText))` needs no sealing key as long as it gets references.
 */
export function isSecretText(value: unknown): value is string {
  return typeof value === "string" || isSecretRef(value);
}

export function isSecretRef(value: unknown): value is SecretRef {
  return secretName(value) !== undefined;
}

/** The name in a reference; undefined for anything that has not the very form of one. */
export function secretName(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, REF)) return undefined;
  const name: unknown = Reflect.get(value, REF);
  return typeof name === "string" && Object.keys(value).length === 1 ? name : undefined;
}
