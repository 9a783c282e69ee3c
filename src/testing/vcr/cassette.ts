// Cassettes: what a model was asked and what it answered, as files that people read and compare. They hold prompts and answers as
// they were: keep no secrets in them.
//
// V1  A recording is found by the digest of its request: all of it counts, tools and settings too, and the order of keys does not.
// V2  The same cassette is the same file, byte for byte.

import { createHash } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { canonicalJson } from "../../kernel/canonical-json.js";
import { HeddleError } from "../../kernel/index.js";
import type { LlmCapabilities, LlmRequest, LlmResponse } from "../../llm/index.js";
import type { RecordedPiece } from "./pieces.js";

const FORMAT = 1;

export interface RecordedAnswer {
  readonly response: LlmResponse;
  /** How it came, where it came in pieces. */
  readonly pieces?: readonly RecordedPiece[];
}

export interface Recording {
  readonly request: LlmRequest;
  /** More than one where the same was asked again. */
  readonly answers: RecordedAnswer[];
}

export interface Cassette {
  readonly format: typeof FORMAT;
  /** Whose answers these are. Absent while there are none. */
  provider?: { readonly id: string; readonly capabilities: LlmCapabilities };
  /** By the digest of the request. */
  readonly recordings: Record<string, Recording>;
}

export function emptyCassette(): Cassette {
  return { format: FORMAT, recordings: {} };
}

/** SHA-256 of the request, in hexadecimal digits. (V1) */
export function digestOf(request: LlmRequest): string {
  return createHash("sha256").update(canonicalJson(request)).digest("hex");
}

/** Writes a cassette to a file, all of it or nothing, and makes the folder if there is none. (V2) */
export async function saveCassette(cassette: Cassette, file: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const partial = `${file}.partial`;
  await writeFile(partial, `${canonicalJson(cassette, 2)}\n`);
  await rename(partial, file);
}

/**
 * Reads a cassette from a file.
 *
 * @throws RECORD_UNREADABLE for what is no cassette, and for a recording whose request is not the one of its digest; RECORDING_MISSING
 *   where there is no file
 */
export async function loadCassette(file: string): Promise<Cassette> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new HeddleError(
      "RECORDING_MISSING",
      `There is no cassette ${file}. Record one: begin with emptyCassette(), ask through recordingProvider(realProvider, cassette), and ` +
        "saveCassette(cassette, file).",
      { details: { file }, cause: error },
    );
  });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw unreadable(file, "is no JSON", error);
  }
  const { format, recordings } = (value ?? {}) as Partial<Cassette>;
  if (format !== FORMAT || typeof recordings !== "object" || recordings === null)
    throw unreadable(file, `is no cassette of format ${FORMAT}`);
  for (const [digest, recording] of Object.entries(recordings)) {
    const { request, answers } = (recording ?? {}) as Partial<Recording>;
    if (typeof request !== "object" || request === null || !Array.isArray(answers) || answers.length === 0)
      throw unreadable(file, `has a recording without request or answers, ${digest}`);
    const actual = digestOf(request);
    if (actual !== digest)
      throw unreadable(
        file,
        `has a request under ${digest} whose digest is ${actual}: record it again, or rename it`,
      );
  }
  return value as Cassette;
}

function unreadable(file: string, complaint: string, cause?: unknown): HeddleError {
  return new HeddleError("RECORD_UNREADABLE", `${file} ${complaint}.`, {
    details: { file },
    ...(cause !== undefined && { cause }),
  });
}
