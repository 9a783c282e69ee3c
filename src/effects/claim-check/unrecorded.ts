// Why a result is not recorded that claim checks have to do with.

import { HeddleError } from "../../kernel/errors.js";
import { EncodedStream } from "./encoded-stream.js";
import type { StreamResult } from "./stream-result.js";

/** A stream came out of the ring, so nothing in it puts streams away. */
export function nobodyTakes(result: StreamResult, stepId: string): HeddleError {
  const advice = "Give the app execution: { claimCheck: { toolIds: [...] } }, or a claimCheckMiddleware.";
  return result instanceof EncodedStream
    ? new HeddleError(
        "VALUE_TOO_LARGE",
        `The result of step ${stepId} is larger than a packet between threads may be, and no claim check takes it. ${advice}`,
        { details: { stepId } },
      )
    : new HeddleError(
        "VALUE_NOT_RECORDABLE",
        `Step ${stepId} returned a streamResult, and no claim check takes it. ${advice}`,
        { details: { stepId } },
      );
}

/** The schema made something else of an envelope: what it stood for would be lost. */
export function envelopeRefused(stepId: string): HeddleError {
  return new HeddleError(
    "OUTPUT_INVALID",
    `The result of step ${stepId} was put away by its claim check, and its outputSchema does not let the envelope through. ` +
      "Schemas describe what flows see: allow it, as in z.union([z.custom<ClaimCheckEnvelope>(isClaimCheck), rows]).",
    { details: { stepId } },
  );
}

/** Content is put away as it is, and this may not be readable there. */
export function streamIsPrivate(toolId: string): HeddleError {
  return new HeddleError(
    "VALUE_NOT_RECORDABLE",
    `Effect ${toolId} returned a streamResult, and the outputSchema of its step marks it as sensitive or internal: a stream cannot ` +
      "be sealed. Return the value itself, or encrypt the stream before you return it and drop the mark.",
    { details: { toolId } },
  );
}
