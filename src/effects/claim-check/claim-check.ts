// claimCheckMiddleware: large results go into a content store, and the log records where. It runs when the effect runs, never
// on replay, so what a flow gets and what a replay gives is the envelope, whether the content is still there or not.
//
// O1  On the way in, envelopes in the input are replaced by what they stand for: effects see values, flows see envelopes.
// O2  On the way out, a result whose encoding is over the cap is put away; what is under it, or cannot be encoded, passes.
// O3  A stream is put away piece by piece, whatever its size, and is never in memory.
// O4  Nothing that is tainted comes out clean: its envelope is marked like the value was.
// O5  The digest is taken before anything is stored, so one that throws stores nothing.
// O6  What may not be read is put away nowhere: it goes into the log, which seals it. A stream cannot, and is refused.

import { type ContentStore, HeddleError, type StoredContent, tell } from "../../kernel/index.js";
import { type Tainted, tainted, taintOrigin } from "../../kernel/taint.js";
import type { EffectContext, EffectMiddleware } from "../effect.js";
import { type DefaultDigest, type Digest, ignoresBytes, takeDigest } from "./digest.js";
import { EncodedStream } from "./encoded-stream.js";
import { decodeValue, type Encoded, encodeValue } from "./encoding.js";
import { type ClaimCheckCodec, type ClaimCheckEnvelope, isClaimCheck } from "./envelope.js";
import { type ClaimCheckReader, resolveWithin } from "./resolve.js";
import { piecesOf, StreamResult } from "./stream-result.js";
import { streamIsPrivate } from "./unrecorded.js";

/** As much of a content store as claim checks need. */
export interface ClaimCheckStore extends ClaimCheckReader, Pick<ContentStore, "put"> {}

export interface OffloadEvent {
  readonly toolId: string;
  readonly stepId: string;
  readonly executionId: string;
  /** In bytes. */
  readonly size: number;
  readonly contentAddress: string;
}

export interface ClaimCheckOptions {
  readonly store: ClaimCheckStore | (() => ClaimCheckStore);
  /** A result whose encoding has more bytes is put away. Default 16 KiB. */
  readonly inlineCapBytes?: number | undefined;
  /** By tool id: what of its results stays in the log. */
  readonly digests?: Readonly<Record<string, Digest>> | undefined;
  /** For tools without a digest of their own. Default: none. */
  readonly defaultDigest?: DefaultDigest | undefined;
  /** Told of each result that was put away. What it throws is ignored. */
  readonly onOffload?: ((event: OffloadEvent) => void) | undefined;
  /** Whether content stays as long as a log has its envelope. Default false: it may be swept, which replays do not notice. */
  readonly retain?: boolean | ((toolId: string) => boolean) | undefined;
  /** Tools whose results are recorded as they are, or which of them. Streams are put away all the same. */
  readonly passThrough?: readonly string[] | ((result: unknown, toolId: string) => boolean) | undefined;
  /** Tools, or true for all, that handle envelopes themselves: theirs are neither resolved in inputs nor spared in results. */
  readonly envelopesAreData?: boolean | readonly string[] | ((toolId: string) => boolean) | undefined;
}

interface Offloaded extends StoredContent {
  readonly digest?: unknown;
  readonly codec?: ClaimCheckCodec | undefined;
  readonly contentType?: string | undefined;
  /** Of the mark on the value, if it is tainted. */
  readonly origin?: string | undefined;
}

const INLINE_CAP_BYTES = 16 * 1024;

/** @throws CONFIG_INVALID, naming the option */
export function claimCheckMiddleware(options: ClaimCheckOptions): EffectMiddleware {
  const check = new ClaimCheck(options);
  return async (ctx, input, next) => {
    const resolved = await check.resolve(ctx, input);
    const result = await next(resolved);
    return check.offload(ctx, result);
  };
}

class ClaimCheck {
  readonly #options: ClaimCheckOptions;
  readonly #capBytes: number;

  constructor(options: ClaimCheckOptions) {
    const { inlineCapBytes = INLINE_CAP_BYTES, store } = options;
    if (!Number.isFinite(inlineCapBytes) || inlineCapBytes < 0)
      throw invalid("inlineCapBytes", `must be a number of bytes of at least 0, not ${inlineCapBytes}`);
    if (typeof store !== "function" && typeof (store as { put?: unknown } | undefined)?.put !== "function")
      throw invalid("store", "must be a content store, such as app.stores.contentStore");
    this.#options = options;
    this.#capBytes = inlineCapBytes;
  }

  /** O1. What a model is told stays as it was recorded: the envelope. */
  async resolve(ctx: EffectContext, input: unknown): Promise<unknown> {
    if (ctx.taskKind === "llm" || ctx.taskKind === "agent" || this.#areData(ctx)) return input;
    return resolveWithin(input, () => this.#store);
  }

  async offload(ctx: EffectContext, result: unknown): Promise<unknown> {
    const { isPrivate } = ctx;
    if (!isPrivate) return this.#offload(ctx, result);
    // O6: what is to be looked at has to be here whole.
    const value = result instanceof EncodedStream ? await result.value(ctx.signal) : result;
    if (!isPrivate(value)) return this.#offload(ctx, value);
    if (value instanceof StreamResult) {
      value.discard();
      throw streamIsPrivate(toolOf(ctx));
    }
    return value;
  }

  async #offload(ctx: EffectContext, result: unknown): Promise<unknown> {
    const toolId = toolOf(ctx);
    if (result instanceof StreamResult) return this.#offloadAnyStream(ctx, result);
    if (this.#passes(result, toolId) || (isClaimCheck(result) && !this.#areData(ctx))) return result;
    const encoded = encodeValue(result);
    if (!encoded || encoded.bytes.length <= this.#capBytes) return result; // O2
    return this.#offloadValue(ctx, result, encoded, taintOrigin(result));
  }

  async #offloadValue(
    ctx: EffectContext,
    value: unknown,
    { bytes, codec }: Encoded,
    origin: string | undefined,
  ): Promise<unknown> {
    const toolId = toolOf(ctx);
    const digest = takeDigest(this.#digestOf(toolId), value, toolId); // O5
    const { ref, size } = await this.#store.put(bytes, { executionId: ctx.executionId });
    return this.#envelope(ctx, { ref, size, digest, codec, origin });
  }

  /** A large value that was encoded where it was made. Whoever has to look at it gets it whole. */
  async #offloadEncoded(ctx: EffectContext, result: EncodedStream): Promise<unknown> {
    const { codec, origin } = result;
    const digest = this.#digestOf(toolOf(ctx));
    const isBytes = codec === "bytes" || codec === "uint8array";
    if (digest && !(isBytes && ignoresBytes(digest))) {
      const bytes = await result.whole(ctx.signal);
      return this.#offloadValue(ctx, decodeValue(bytes, codec), { bytes, codec }, origin);
    }
    const { ref, size } = await this.#upload(ctx, result);
    return this.#envelope(ctx, { ref, size, codec, origin });
  }

  /** One whose thread was taken down by another call is made again: the attempt was not its own to lose. */
  async #offloadAnyStream(ctx: EffectContext, result: StreamResult): Promise<unknown> {
    try {
      return result instanceof EncodedStream
        ? await this.#offloadEncoded(ctx, result)
        : await this.#offloadStream(ctx, result);
    } catch (error) {
      if (!result.again || !isInnocentLoss(error)) throw error;
      return this.offload(ctx, await result.again());
    }
  }

  /** O3 */
  async #offloadStream(ctx: EffectContext, result: StreamResult): Promise<unknown> {
    const { ref, size } = await this.#upload(ctx, result);
    const digest = await result.digest(toolOf(ctx));
    return this.#envelope(ctx, { ref, size, digest, codec: "bytes", contentType: result.contentType });
  }

  #upload(ctx: EffectContext, result: StreamResult): Promise<StoredContent> {
    return this.#store.put(piecesOf(result, ctx.signal), { executionId: ctx.executionId });
  }

  #envelope(
    ctx: EffectContext,
    { ref, size, digest, codec, contentType, origin }: Offloaded,
  ): ClaimCheckEnvelope | Tainted<ClaimCheckEnvelope> {
    const toolId = toolOf(ctx);
    const { retain = false, onOffload } = this.#options;
    const isRetained = typeof retain === "function" ? retain(toolId) : retain;
    const { executionId, stepId } = ctx;
    tell(() => onOffload?.({ toolId, stepId, executionId, size, contentAddress: ref }));
    const envelope: ClaimCheckEnvelope = {
      __loomClaimCheck: true,
      ref,
      size,
      ...(digest !== undefined && { digest }),
      ...(codec && { codec }),
      ...(contentType !== undefined && { contentType }),
      ...(isRetained && { retain: true }),
    };
    return origin === undefined ? envelope : tainted(envelope, origin); // O4
  }

  #digestOf(toolId: string): DefaultDigest | undefined {
    const { digests = {}, defaultDigest } = this.#options;
    return Object.hasOwn(digests, toolId) ? digests[toolId] : defaultDigest;
  }

  #passes(result: unknown, toolId: string): boolean {
    const { passThrough = [] } = this.#options;
    return typeof passThrough === "function" ? passThrough(result, toolId) : passThrough.includes(toolId);
  }

  #areData(ctx: EffectContext): boolean {
    const { envelopesAreData: areData = false } = this.#options;
    if (typeof areData === "boolean") return areData;
    return typeof areData === "function" ? areData(toolOf(ctx)) : areData.includes(toolOf(ctx));
  }

  get #store(): ClaimCheckStore {
    const { store } = this.#options;
    return typeof store === "function" ? store() : store;
  }
}

function isInnocentLoss(error: unknown): boolean {
  return (
    error instanceof HeddleError &&
    error.code === "EFFECT_WORKER_LOST" &&
    error.details["isInnocent"] === true
  );
}

/** Contexts that were made by hand may name a step alone. */
function toolOf({ toolId, stepId }: Partial<EffectContext>): string {
  return toolId ?? stepId ?? "";
}

function invalid(option: string, complaint: string): HeddleError {
  return new HeddleError("CONFIG_INVALID", `claimCheckMiddleware: ${option} ${complaint}.`, {
    details: { option },
  });
}
