// recordingProvider: passes everything on to a real model, and writes down what it answers. Failures are passed on and not recorded, and
// so is a stream that its reader leaves.

import { invalidOption } from "../../kernel/index.js";
import type { LlmProvider, LlmRequest, LlmStreamEvent } from "../../llm/index.js";
import { type Cassette, digestOf, type RecordedAnswer } from "./cassette.js";
import { type RecordedPiece, record } from "./pieces.js";

/**
 * A provider that answers as the given one does, and adds the answers to the cassette. Save it afterwards by `saveCassette`.
 *
 * @throws CONFIG_INVALID for a cassette with answers of another provider
 */
export function recordingProvider(provider: LlmProvider, cassette: Cassette): LlmProvider {
  const { id, capabilities } = provider;
  if (cassette.provider && cassette.provider.id !== id)
    throw invalidOption(
      "recordingProvider: cassette",
      `holds answers of ${cassette.provider.id}, and this is ${id}: take an emptyCassette() for each provider`,
    );
  cassette.provider = { id, capabilities };

  const keep = (request: LlmRequest, answer: RecordedAnswer): void => {
    const digest = digestOf(request);
    const recording = (cassette.recordings[digest] ??= { request: asData(request), answers: [] });
    recording.answers.push(asData(answer));
  };
  async function* stream(
    ...[request, options]: Parameters<NonNullable<LlmProvider["stream"]>>
  ): AsyncGenerator<LlmStreamEvent> {
    const pieces: RecordedPiece[] = [];
    for await (const piece of provider.stream!(request, options)) {
      if (piece.type === "end") keep(request, { response: piece.response, pieces });
      else record(pieces, piece);
      yield piece;
    }
  }
  return {
    id,
    capabilities,
    async complete(request, options) {
      const response = await provider.complete(request, options);
      keep(request, { response });
      return response;
    },
    ...(provider.stream && { stream }),
  };
}

/** As a file would have it, whether it is written to one or not: both replay alike. */
function asData<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}
