// What is said when a cassette has no answer: which recording is the nearest, where it differs, and how to record. Mostly a prompt or
// a tool has changed, and the difference says which.

import { HeddleError } from "../../kernel/index.js";
import type { LlmRequest } from "../../llm/index.js";
import { type Cassette, digestOf } from "./cassette.js";

const HOW_TO_RECORD =
  "Record it: put recordingProvider(realProvider, cassette) in the place of replayingProvider(cassette), run once, and " +
  "saveCassette(cassette, file).";

/** A request that nobody recorded. */
export class MissingRecordingError extends HeddleError {
  override name = "MissingRecordingError";
  /** Of the request. */
  readonly digest: string;
  /** Of the recording that is most like it, and the first place where the two differ. */
  readonly nearest: { readonly digest: string; readonly path: string } | undefined;

  constructor(request: LlmRequest, cassette: Cassette) {
    const digest = digestOf(request);
    const nearest = nearestTo(request, cassette);
    const found = nearest
      ? `The nearest of ${Object.keys(cassette.recordings).length} (${nearest.digest.slice(0, 12)}) differs at ${nearest.path}: ` +
        `recorded is ${shown(nearest.recorded)}, asked was ${shown(nearest.asked)}.`
      : "It holds no recordings.";
    super(
      "RECORDING_MISSING",
      `The cassette has no answer to this request (${digest.slice(0, 12)}). ${found} ${HOW_TO_RECORD}`,
      {
        details: { digest, ...(nearest && { nearest: nearest.digest, path: nearest.path }) },
      },
    );
    this.digest = digest;
    this.nearest = nearest && { digest: nearest.digest, path: nearest.path };
  }
}

interface Nearest {
  readonly digest: string;
  readonly path: string;
  readonly recorded: unknown;
  readonly asked: unknown;
}

/** By how many of their leaves are alike; the first by digest where several are equally near. */
function nearestTo(request: LlmRequest, cassette: Cassette): Nearest | undefined {
  const asked = leavesOf(request);
  let best: { readonly nearest: Nearest; readonly differences: number } | undefined;
  for (const [digest, recording] of Object.entries(cassette.recordings).toSorted(([a], [b]) =>
    a < b ? -1 : 1,
  )) {
    const recorded = leavesOf(recording.request);
    const paths = [...new Set([...asked.keys(), ...recorded.keys()])];
    const different = paths.filter((path) => asked.get(path) !== recorded.get(path));
    const [path] = different;
    if (path === undefined || (best && best.differences <= different.length)) continue;
    const nearest = { digest, path, recorded: recorded.get(path), asked: asked.get(path) };
    best = { nearest, differences: different.length };
  }
  return best?.nearest;
}

/** Every value of a request that has no parts, by its path: `messages[2].content`. */
function leavesOf(value: unknown, path = "", leaves = new Map<string, unknown>()): Map<string, unknown> {
  if (typeof value !== "object" || value === null)
    return value === undefined ? leaves : leaves.set(path, value);
  const parts: readonly (readonly [string, unknown])[] = Array.isArray(value)
    ? value.map((item: unknown, i) => [`${path}[${i}]`, item])
    : Object.entries(value).map(([key, part]) => [path === "" ? key : `${path}.${key}`, part]);
  for (const [at, part] of parts) leavesOf(part, at, leaves);
  return leaves;
}

const SHOWN_CHARS = 80;

function shown(leaf: unknown): string {
  if (leaf === undefined) return "nothing";
  const text = JSON.stringify(leaf);
  return text.length <= SHOWN_CHARS ? text : `${text.slice(0, SHOWN_CHARS)}…`;
}
