// Instructions: fetched when a skill is taken up, and held against what a model may be given.

import { isTainted, type SkillDefinition } from "../../kernel/index.js";
import { sha256 } from "../sha256.js";

/** Why a skill has no instructions to give. */
export type InstructionsRefusal =
  | "instructions_unavailable"
  | "instructions_refused"
  | "instructions_too_large";

export type Fetched =
  | { readonly text: string; readonly digest: string }
  | { readonly refusal: InstructionsRefusal };

/** @param maxBytes in UTF-8 */
export async function fetchInstructions(
  skill: SkillDefinition | undefined,
  maxBytes: number,
): Promise<Fetched> {
  const { instructions } = skill ?? {};
  let text: unknown;
  try {
    text = typeof instructions === "function" ? await instructions() : instructions;
  } catch {
    return { refusal: "instructions_unavailable" };
  }
  if (isTainted(text)) return { refusal: "instructions_refused" };
  if (typeof text !== "string" || text.trim() === "") return { refusal: "instructions_unavailable" };
  if (Buffer.byteLength(text) > maxBytes) return { refusal: "instructions_too_large" };
  return { text, digest: sha256(text) };
}
