// SdkProvider: what the providers on a vendor's SDK have in common. A vendor says how it answers, and what its failures are.

import type { GuardedRequest } from "../guard/guarded.js";
import type { LlmError } from "../llm-error.js";
import {
  EVERYTHING,
  type LlmCallOptions,
  type LlmCapabilities,
  type LlmProvider,
  type LlmRequest,
  type LlmResponse,
  type LlmStreamEvent,
} from "../provider.js";
import { type Caller, completing, streaming } from "./call.js";

export abstract class SdkProvider implements LlmProvider {
  abstract readonly id: string;
  readonly capabilities: LlmCapabilities = EVERYTHING;

  async complete(request: LlmRequest, options: LlmCallOptions = {}): Promise<LlmResponse> {
    return completing(this.#caller(options), request, (guarded, signal) => this.answer(guarded, signal));
  }

  stream(request: LlmRequest, options: LlmCallOptions = {}): AsyncIterable<LlmStreamEvent> {
    return streaming(this.#caller(options), request, (guarded, signal) => this.pieces(guarded, signal));
  }

  protected abstract answer(request: GuardedRequest, signal: AbortSignal): Promise<LlmResponse>;

  /** The answer as it comes, and its end. */
  protected abstract pieces(request: GuardedRequest, signal: AbortSignal): AsyncIterable<LlmStreamEvent>;

  /** What the SDK threw, in our words. */
  protected abstract failureOf(error: unknown): LlmError;

  #caller({ signal }: LlmCallOptions): Caller {
    return { provider: this.id, signal, failureOf: (error) => this.failureOf(error) };
  }
}
