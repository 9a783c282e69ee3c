export { hasMarks, internal, sensitive } from "./marks.js";
export { hidePayload, type Secrecy, secrecyOf } from "./secrecy.js";
export { isSecretText, type SecretRef, secretRef } from "./secret-ref.js";
export { SecretTexts } from "./secret-texts.js";
export { KEY_BYTES, NO_VAULT, ONLY_KEY, type SealingKeyRing, Vault } from "./vault.js";
