// Result content: what a model is shown of a result. Pure, and the same for whoever reads the log later.
//
// N1  A result is data: JSON in one member of one object, so nothing in it can end its own frame, whatever markers it imitates.
// N2  What is tainted at any depth makes all of the content tainted: it reaches the model inside a fence.
// N3  What is too large is cut where everybody can see it.
// N4  An envelope of a claim check is shown as it stands. What it stands for stays where it is.

import { isTainted, tainted, taintOrigin, unwrapTainted } from "../../kernel/index.js";
import type { LlmText } from "../../llm/index.js";
import type { ToolCallError } from "../result.js";

/** Of messages of errors, in characters: they are for a model to read, not for a log to be copied into it. */
const MESSAGE_CHARS_MAX = 4_000;

/** @param bytesMax of the JSON of the result, in UTF-8 */
export function resultContent(tool: string, result: unknown, bytesMax: number): LlmText {
  const json = jsonOf(result);
  const bytes = Buffer.byteLength(json);
  const content =
    bytes <= bytesMax
      ? `{"tool":${JSON.stringify(tool)},"result":${json}}`
      : JSON.stringify({ tool, truncated: { bytes, shownBytes: bytesMax }, result: cut(json, bytesMax) });
  return marked(content, result);
}

/** @param details what the failure carries beside its message: the channel it was made on, and its payload */
export function errorContent(
  tool: string,
  { code, message }: ToolCallError,
  details: { readonly channel?: string; readonly payload?: unknown } = {},
): LlmText {
  const { channel, payload } = details;
  const shown = { tool, error: clipped(message), code, ...(channel !== undefined && { channel }) };
  const json = JSON.stringify(shown);
  if (payload === undefined) return json;
  return marked(`${json.slice(0, -1)},"payload":${jsonOf(payload)}}`, payload);
}

function clipped(message: string): string {
  return message.length <= MESSAGE_CHARS_MAX
    ? message
    : `${message.slice(0, MESSAGE_CHARS_MAX)} [${message.length} characters]`;
}

/** N2 */
function marked(content: string, value: unknown): LlmText {
  if (typeof value !== "object" || value === null) return content;
  const origin = taintOrigin(value);
  return origin === undefined ? content : tainted(content, origin);
}

/** The longest beginning of a text that has at most so many bytes, and ends in a whole character. */
function cut(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text);
  let end = bytesMax;
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.toString("utf8", 0, end);
}

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value, plainly) ?? "null";
  } catch {
    return JSON.stringify("[a value that is part of itself]");
  }
}

/** Values that a log keeps and JSON does not. Marks are left out: N2 has seen to them. */
function plainly(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "object" || value === null) return value;
  if (isTainted(value)) return bare(value);
  if (value instanceof Map) return [...value];
  if (value instanceof Set) return [...value];
  if (value instanceof Error) return { name: value.name, message: value.message };
  if (value instanceof RegExp) return String(value);
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`;
  return value;
}

function bare(value: unknown): unknown {
  try {
    return unwrapTainted(value);
  } catch {
    return "[content with a mark that tainted() did not make]";
  }
}
