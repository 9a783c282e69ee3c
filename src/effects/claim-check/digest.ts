// Digests: the part of an offloaded result that stays in the log.

import { HeddleError } from "../../kernel/index.js";
import { hasTainted } from "../../kernel/taint.js";
import { checkedDigest, digestFailed } from "./checked-digest.js";
import { isBytes } from "./encoding.js";

/**
 * What of a result a flow may know and branch on. Has to be pure: the same result, the same digest. Undefined: nothing.
 * Written as a method's type, so that a digest of a narrow result fits.
 */
export type Digest = { method(result: unknown): unknown }["method"];

/** The same for any tool. */
export type DefaultDigest = (result: unknown, toolId: string) => unknown;

/**
 * A digest that is the head of the result's JSON: `{ preview, truncated }`. Of bytes, of what JSON does not know, and of what is
 * tainted it keeps nothing.
 *
 * @throws CONFIG_INVALID unless `maxChars` is a whole number from 1 to 4,096
 */
export function previewDigest(maxChars: number): Digest {
  if (!isPreviewLength(maxChars)) {
    throw new HeddleError(
      "CONFIG_INVALID",
      `previewDigest takes how many characters to keep, from 1 to ${PREVIEW_MAX}, not ${String(maxChars)}.`,
    );
  }
  const preview: Digest = (result) => {
    if (isBytes(result) || hasTainted(result)) return undefined;
    const text = jsonOf(result);
    if (text === undefined) return undefined;
    return { preview: text.slice(0, maxChars).toWellFormed(), truncated: text.length > maxChars };
  };
  previews.add(preview);
  return preview;
}

const PREVIEW_MAX = 4_096;

/** Whether a preview may have so many characters. */
export function isPreviewLength(chars: unknown): boolean {
  return Number.isInteger(chars) && (chars as number) >= 1 && (chars as number) <= PREVIEW_MAX;
}

const previews = new WeakSet<DefaultDigest>();

/** Whether it need not see bytes to know what it says of them. */
export function ignoresBytes(digest: DefaultDigest): boolean {
  return previews.has(digest);
}

/** @throws DIGEST_FAILED */
export function takeDigest(digest: DefaultDigest | undefined, result: unknown, toolId: string): unknown {
  if (!digest) return undefined;
  try {
    return checkedDigest(digest(result, toolId), toolId);
  } catch (error) {
    throw isDigestFailed(error) ? error : digestFailed(toolId, "threw", error);
  }
}

function isDigestFailed(error: unknown): boolean {
  return error instanceof HeddleError && error.code === "DIGEST_FAILED";
}

function jsonOf(result: unknown): string | undefined {
  try {
    return JSON.stringify(result);
  } catch {
    return undefined;
  }
}
