// The text of a reasoning block in the content store, bound to the execution that captured it: no other can read it back, and each has
// its own copy, so that erasing one execution's reasoning erases no other's.

import type { ContentStore } from "../../kernel/index.js";
import { sha256 } from "../sha256.js";

/** Where texts lie: the content store beside the log, or any other. */
export type ReasoningStore = Pick<ContentStore, "put" | "get">;

interface SealedText {
  readonly executionId: string;
  readonly stepId: string;
  readonly text: string;
}

export type Unsealed =
  | { readonly status: "ok"; readonly text: string }
  | { readonly status: "erased" | "digest-mismatch" };

export async function seal(
  store: ReasoningStore,
  { executionId, stepId, text }: SealedText,
): Promise<{ readonly reference: string; readonly digest: string }> {
  const sealed: SealedText = { executionId, stepId, text };
  const { ref } = await store.put(JSON.stringify(sealed), { executionId });
  return { reference: ref, digest: sha256(text) };
}

/** Rejects where the store cannot be read: that says nothing of the text. */
export async function unseal(
  store: ReasoningStore,
  executionId: string,
  { reference, digest }: { readonly reference: string; readonly digest?: string | undefined },
): Promise<Unsealed> {
  const bytes = await store.get(reference);
  if (!bytes) return { status: "erased" };
  const sealed = readSealed(bytes);
  const isGenuine = sealed?.executionId === executionId && sha256(sealed.text) === digest;
  return isGenuine ? { status: "ok", text: sealed.text } : { status: "digest-mismatch" };
}

function readSealed(bytes: Uint8Array): SealedText | undefined {
  try {
    const value = JSON.parse(Buffer.from(bytes).toString("utf8")) as Partial<SealedText> | null;
    return typeof value?.text === "string" ? (value as SealedText) : undefined;
  } catch {
    return undefined;
  }
}
