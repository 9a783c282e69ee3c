// Redactor: gives an effect the secrets its input refers to, and sees to it that they do not come out again.
//
// Owns       the secrets in use in this thread.
// Leaves     where secrets are kept to the program's resolver, values that schemas mark to the kernel's Secrecy.
//
// D1  A secret is resolved for each attempt, right before the effect: it is never older than that, and never in the log.
// D2  What an attempt gives back, fails with or emits holds none of its secrets in any of the forms SecretTexts knows, marked by
//     a schema or not.
// D3  References inside tainted content are not resolved: nobody vouches for whoever wrote them.
//     A stream is not looked through; what it fails with and says of itself is.
// D4  An effect one of whose secrets cannot be resolved does not run.

import { types } from "node:util";
import { failureToWire, fromWire, isPlain, toWire, type Wire } from "../../kernel/codec/index.js";
import { HeddleError } from "../../kernel/errors.js";
import { Latest } from "../../kernel/latest.js";
import { secretName } from "../../kernel/secrets/secret-ref.js";
import { SecretTexts } from "../../kernel/secrets/secret-texts.js";
import { isTainted } from "../../kernel/taint.js";
import { ChangedContext } from "../changed-context.js";
import { EncodedStream } from "../claim-check/encoded-stream.js";
import { OFFLOAD_LIMITS } from "../claim-check/encoding.js";
import { discardStreams, StreamResult } from "../claim-check/stream-result.js";
import type { EffectContext, EffectMiddleware } from "../effect.js";
import type { RingGuard } from "../layer.js";
import { keepRetryHint } from "../retry-hint.js";
import { cleanse } from "./cleanse.js";

/**
 * Looks a secret up by the name in its `secretRef`. Asked for each attempt; who acts, and through which effect, is in `ctx`.
 * Throwing, or giving anything but text, fails the attempt with SECRET_UNRESOLVED.
 */
export type SecretResolver = (name: string, ctx: EffectContext) => string | Promise<string>;

const LABEL = "secret";
/** As many as are searched for at a time. Where credentials are made for each attempt, each is another. */
const LATEST_MAX = 1_000;

export class Redactor implements RingGuard {
  readonly #resolver: SecretResolver;
  readonly #now: () => number;
  /** Of attempts under way. */
  readonly #inUse = new Set<SecretTexts>();
  /** The last ones, for what an attempt throws after it is over, or while its stream is read. */
  readonly #latest = new Latest<string>(LATEST_MAX);

  /** @param now milliseconds since the epoch, for dates in retry hints */
  constructor(resolver: SecretResolver, now: () => number) {
    this.#resolver = resolver;
    this.#now = now;
  }

  isNeeded(input: unknown): boolean {
    return namesIn(input).size > 0;
  }

  readonly around: EffectMiddleware = async (ctx, input, next) => {
    const texts = new SecretTexts(LABEL);
    this.#inUse.add(texts);
    try {
      const secrets = await this.#resolveAll(namesIn(input), ctx, texts);
      const emit: EffectContext["emit"] = (eventType, payload) => ctx.emit(eventType, shown(payload, texts));
      const isPrivate = (value: unknown): boolean =>
        ctx.isPrivate?.(value) === true || shown(value, texts) !== value;
      return await this.#covered(
        () => next(resolved(input, secrets), new ChangedContext(ctx, { emit, isPrivate })),
        ctx.signal,
        texts,
      );
    } finally {
      this.#inUse.delete(texts);
    }
  };

  /** What the call gives or fails with, without the secrets. */
  async #covered(call: () => Promise<unknown>, signal: AbortSignal, texts: SecretTexts): Promise<unknown> {
    try {
      const result = await call();
      if (result instanceof EncodedStream && !texts.isEmpty) return shown(await result.value(signal), texts);
      if (result instanceof StreamResult) this.#veil(result, signal, texts);
      return shown(result, texts);
    } catch (error) {
      throw this.#shownFailure(error, texts);
    }
  }

  /** What a stream has to say comes when this attempt has long gone on its way out. */
  #veil(result: StreamResult, signal: AbortSignal, texts: SecretTexts): void {
    if (texts.isEmpty) return;
    const { again } = result;
    if (again) result.again = () => this.#covered(again, signal, texts);
    result.veil({
      failure: (error) => this.#shownFailure(error, texts),
      shown: (value) => shown(value, texts),
    });
  }

  /** For what was thrown where no attempt caught it. */
  cleanse(thrown: unknown): void {
    cleanse(thrown, this.secrets);
  }

  /** All secrets that something thrown in this thread may have in it, whether an attempt is still under way or not. */
  get secrets(): readonly SecretTexts[] {
    const latest = new SecretTexts(LABEL);
    latest.add([...this.#latest]);
    return [...this.#inUse, latest];
  }

  async #resolveAll(
    names: ReadonlySet<string>,
    ctx: EffectContext,
    texts: SecretTexts,
  ): Promise<ReadonlyMap<string, string>> {
    const pairs = [...names].map(async (name) => [name, await this.#resolve(name, ctx)] as const);
    const secrets = new Map(await Promise.all(pairs));
    for (const secret of secrets.values()) {
      texts.add(secret);
      this.#latest.note(secret);
    }
    return secrets;
  }

  async #resolve(name: string, ctx: EffectContext): Promise<string> {
    const { toolId, stepId } = ctx;
    let complaint: string;
    try {
      const secret: unknown = await this.#resolver(name, ctx);
      if (typeof secret === "string") return secret;
      complaint = `the resolver gave no text but ${secret === null ? "null" : typeof secret}`;
    } catch (error) {
      // Not more of it: what a keeper of secrets throws may have some in it.
      complaint = `the resolver threw ${error instanceof Error ? error.name : typeof error}`;
    }
    // D4
    throw new HeddleError(
      "SECRET_UNRESOLVED",
      `The secret ${name} for effect ${toolId} in step ${stepId} could not be resolved: ${complaint}. The effect did not run.`,
      { details: { name, toolId, stepId } },
    );
  }

  #shownFailure(error: unknown, texts: SecretTexts): unknown {
    if (texts.isEmpty) return error;
    keepRetryHint(error, this.#now()); // it may hang on parts of the error that are not kept
    const wire = failureToWire(error);
    const scrubbed = texts.scrub(wire);
    if (scrubbed === wire) return error;
    const clean = fromWire(scrubbed);
    // Of the same class as before: callers ask for it.
    if (clean instanceof Error) Object.setPrototypeOf(clean, Object.getPrototypeOf(error) as object);
    return clean;
  }
}

/** What holds no secret stays the very value it was. */
function shown(value: unknown, texts: SecretTexts): unknown {
  if (texts.isEmpty || value === undefined || value instanceof StreamResult) return value;
  let wire: Wire;
  try {
    wire = toWire(value, OFFLOAD_LIMITS);
  } catch (refusal) {
    // Nor will anybody else be able to record it, and say so in the same words, which name parts of it.
    if (!texts.isIn(failureToWire(refusal))) return value;
    discardStreams(value);
    throw refusal;
  }
  const scrubbed = texts.scrub(wire);
  return scrubbed === wire ? value : fromWire(scrubbed);
}

/** The names of all secrets that a value refers to (D3). */
function namesIn(value: unknown): ReadonlySet<string> {
  const names = new Set<string>();
  if (typeof value !== "object" || value === null) return names;
  const met = new Set<object>();
  const toDo: unknown[] = [value];
  while (toDo.length > 0) {
    const part = toDo.pop();
    if (typeof part !== "object" || part === null || met.has(part)) continue;
    met.add(part);
    const name = secretName(part);
    if (name !== undefined) names.add(name);
    else if (!isTainted(part)) for (const inner of partsOf(part)) toDo.push(inner);
  }
  return names;
}

function partsOf(container: object): Iterable<unknown> {
  if (types.isMap(container)) return [...container].flat();
  if (types.isSet(container) || Array.isArray(container)) return container;
  return isPlain(container) ? Object.values(container) : [];
}

/** A copy with the secrets in place of their references; parts without any are the same parts. */
function resolved(input: unknown, secrets: ReadonlyMap<string, string>): unknown {
  const copies = new Map<object, unknown>();
  const copy = (part: unknown): unknown => {
    if (typeof part !== "object" || part === null) return part;
    if (copies.has(part)) return copies.get(part);
    const name = secretName(part);
    if (name !== undefined) return secrets.get(name);
    if (isTainted(part)) return part;
    if (Array.isArray(part)) {
      const items: unknown[] = [];
      copies.set(part, items);
      for (const item of part) items.push(copy(item));
      return items;
    }
    if (types.isMap(part)) {
      const map = new Map<unknown, unknown>();
      copies.set(part, map);
      for (const [key, item] of part) map.set(copy(key), copy(item));
      return map;
    }
    if (types.isSet(part)) {
      const set = new Set<unknown>();
      copies.set(part, set);
      for (const item of part) set.add(copy(item));
      return set;
    }
    if (!isPlain(part)) return part;
    const object: Record<string, unknown> = { ...part };
    copies.set(part, object);
    for (const [key, item] of Object.entries(object))
      Object.defineProperty(object, key, { value: copy(item) });
    return object;
  };
  return copy(input);
}
