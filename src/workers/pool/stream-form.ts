// What a thread says of a result that comes in pieces.

import { EncodedStream } from "../../effects/claim-check/encoded-stream.js";
import type { ClaimCheckCodec } from "../../effects/claim-check/envelope.js";
import { StreamResult } from "../../effects/claim-check/stream-result.js";
import type { Wire } from "../../kernel/codec/index.js";
import type { IncomingStream } from "./incoming-stream.js";

export function formOf(result: StreamResult): Wire {
  return result instanceof EncodedStream
    ? { isValue: true, codec: result.codec, origin: result.origin }
    : { isValue: false, contentType: result.contentType };
}

/** Both ends are of one build, so a form is what `formOf` gives. */
export function resultFrom(stream: IncomingStream, form: Wire): StreamResult {
  const { isValue, codec, origin, contentType } = form as {
    readonly isValue: boolean;
    readonly codec?: ClaimCheckCodec;
    readonly origin?: string;
    readonly contentType?: string;
  };
  return isValue
    ? new EncodedStream(stream, codec, origin)
    : new StreamResult(stream, { digest: () => stream.tail, contentType });
}
