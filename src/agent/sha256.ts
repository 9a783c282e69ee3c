import { hash } from "node:crypto";

/** Of a text in UTF-8; in hexadecimal digits where nothing else is said. */
export function sha256(text: string, form: "hex" | "base64url" = "hex"): string {
  return hash("sha256", text, form);
}
