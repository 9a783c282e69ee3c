// What the conformance suite knows of a vendor: how it says things, and what of ours they are.

import type { LlmProvider, LlmResponse, SdkProviderOptions } from "../../../src/llm/index.js";
import type { Received, Reply } from "./server.js";

export interface Spoken {
  readonly title: string;
  /** The body of an answer as a whole. */
  readonly whole: unknown;
  /** The same answer as the text of a stream, frame by frame. */
  readonly frames: readonly string[];
  readonly expected: LlmResponse;
}

export interface Vendor {
  readonly name: string;
  readonly open: (options: SdkProviderOptions) => LlmProvider;
  /** The environment variable of its key. */
  readonly keyVariable: string;
  readonly reservedHeaders: readonly string[];
  readonly keyIn: (headers: Received["headers"]) => unknown;
  readonly spoken: readonly Spoken[];
  readonly error: (status: number, message: string) => Reply;
  /** What it answers to a conversation that is too long. */
  readonly tooLong: () => Reply;
  /** How it says in the middle of a stream that it cannot go on. */
  readonly errorFrame: string;
}
