// LlmError: how a call of a model fails. What it says of a retry are its own properties, so that the hint survives threads and
// restarts. Neither its message nor its details hold a word of the vendor's: those may quote a prompt, or a key.

import { ERROR_CODES, HeddleError, type HeddleErrorCode } from "../kernel/index.js";

export type LlmErrorCode = Extract<HeddleErrorCode, `LLM_${string}`>;

export interface LlmErrorOptions {
  /** The provider's id. */
  readonly provider?: string | undefined;
  /** Default: what the code says. */
  readonly retryable?: boolean | undefined;
  /** Not before so many milliseconds from now. */
  readonly retryAfterMs?: number | undefined;
  /** Statuses, names of fields, the vendor's own codes. Never what a person wrote. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  readonly cause?: unknown;
  readonly vendorMessage?: string | undefined;
}

export class LlmError extends HeddleError {
  override name = "LlmError";
  declare readonly code: LlmErrorCode;
  declare readonly retryAfterMs?: number;
  readonly #vendorMessage: string | undefined;

  constructor(code: LlmErrorCode, message: string, options: LlmErrorOptions = {}) {
    const { provider, retryable, retryAfterMs, details, vendorMessage } = options;
    super(code, message, {
      details: { ...(provider !== undefined && { provider }), ...details },
      ...("cause" in options && { cause: options.cause }),
    });
    const hint = {
      retryable: retryable ?? ERROR_CODES[code].retryable,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    };
    // Not by assignment: `retryable` is a getter of the base, which no log keeps.
    for (const [key, value] of Object.entries(hint)) {
      Object.defineProperty(this, key, { value, enumerable: true, configurable: true, writable: true });
    }
    this.#vendorMessage = vendorMessage;
  }

  /**
   * What the vendor said, in its own words, which may quote the request: for a person at a terminal. It is on no log and does not
   * cross threads.
   */
  get vendorMessage(): string | undefined {
    return #vendorMessage in this ? this.#vendorMessage : undefined;
  }
}

/** For a request that the caller's signal stopped. */
export function abortedError(provider: string, reason: unknown): LlmError {
  return new LlmError("LLM_ABORTED", `The request to ${provider} was stopped by its caller.`, {
    provider,
    cause: reason,
  });
}
