// replayingProvider: a model that answers from a cassette, without a network and without a clock.

import type { LlmProvider, LlmRequest, LlmStreamEvent } from "../../llm/index.js";
import { abortedError } from "../../llm/llm-error.js";
import { piecesOf } from "../../llm/scripted/pieces.js";
import { type Cassette, digestOf, type RecordedAnswer } from "./cassette.js";
import { MissingRecordingError } from "./missing-recording.js";
import { replay } from "./pieces.js";

/** Of an answer that was recorded whole and is asked for in pieces. */
const PIECE_CHARS = 8;

/**
 * A provider that gives each request the answer that was recorded for it. A request that was recorded several times gets its answers in
 * their order, and the last one from then on. An answer streams as it came; one that was recorded whole streams in even pieces.
 *
 * It fails with MissingRecordingError for a request that was not recorded, and says which recording is the nearest.
 */
export function replayingProvider(cassette: Cassette): LlmProvider {
  const asked = new Map<string, number>();
  const { id = "cassette", capabilities = { streaming: true, tools: true, images: true, files: true } } =
    cassette.provider ?? {};

  const answerTo = (request: LlmRequest, signal: AbortSignal | undefined): RecordedAnswer => {
    if (signal?.aborted) throw abortedError(id, signal.reason);
    const digest = digestOf(request);
    const answers = Object.hasOwn(cassette.recordings, digest) ? cassette.recordings[digest]!.answers : [];
    const count = asked.get(digest) ?? 0;
    asked.set(digest, count + 1);
    const answer = answers[count] ?? answers.at(-1);
    if (!answer) throw new MissingRecordingError(request, cassette);
    return structuredClone(answer);
  };
  return {
    id,
    capabilities,
    async complete(request, { signal } = {}) {
      return answerTo(request, signal).response;
    },
    async *stream(request, { signal } = {}): AsyncGenerator<LlmStreamEvent> {
      const { response, pieces } = answerTo(request, signal);
      for (const piece of pieces ? replay(pieces) : piecesOf(response, PIECE_CHARS)) {
        if (signal?.aborted) throw abortedError(id, signal.reason);
        yield piece;
      }
      yield { type: "end", response };
    },
  };
}
