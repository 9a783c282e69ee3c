// Reasoning by default: what an app's configuration says of reasoning reaches the effects it registers. What an effect says itself wins.

import type { EffectContext } from "../../effects/index.js";
import type { ReasoningStore } from "./sealed-text.js";

/** What an app says for all of its agents' models. False: nothing of their reasoning is kept, and nobody is warned. */
export type ReasoningDefaults =
  | false
  | {
      readonly store?: ReasoningStore | undefined;
      /** Reasoning may be shown while it is generated. Default false. */
      readonly live?: boolean | undefined;
    };

/** What an effect says of its model's reasoning. */
export interface ReasoningOptions {
  /** Where the text is kept. Default: the app's (`observability.reasoning`). Without one nothing of it is recorded. */
  readonly store?: ReasoningStore | undefined;
  /** False: nothing of it is kept, whatever the app says. Default true. */
  readonly capture?: boolean | undefined;
  /** Whether `onDelta` is called. Default: the app's, or false. */
  readonly live?: boolean | undefined;
  /** Gets reasoning as it is generated; nothing of that is recorded. Nothing waits for it, and what it throws is dropped. */
  readonly onDelta?: ((delta: string, ctx: EffectContext) => unknown) | undefined;
  /** Which of several routes to models this is: a route takes back no other's reasoning. */
  readonly route?: string | undefined;
}

/** The two of them together. */
export interface Reasoning {
  /** Absent: nothing is kept, and nothing continued. */
  readonly store?: ReasoningStore | undefined;
  readonly live: boolean;
}

export function reasoningOf(own: ReasoningOptions | false, defaults: ReasoningDefaults): Reasoning {
  if (own === false || own.capture === false) return { live: own !== false && own.live === true };
  const app = defaults === false ? {} : defaults;
  return { store: own.store ?? app.store, live: own.live ?? app.live ?? false };
}
