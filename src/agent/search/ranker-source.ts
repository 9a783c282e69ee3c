// RankerSource: the ranker of a run, made when the first search needs it. A replay needs none.

import { isThenable } from "../../kernel/index.js";
import type { Warn } from "../warnings.js";
import type { ToolDoc, ToolRanker, ToolRankerFactory } from "./tool-ranker.js";

/** Names what is said of factories that are none, in errors and in warnings. */
export const RANKER_FACTORY = "LOOM_AGENT_RANKER_FACTORY";

/** Rule for an option that takes a ranker or its factory: what is wrong with it, if anything can be told without calling it. */
export function rankerComplaint(value: unknown): string | undefined {
  if (typeof value !== "function") {
    const { kind, rank } = (value ?? {}) as Partial<ToolRanker>;
    return typeof rank === "function" && typeof kind === "string" && kind !== ""
      ? undefined
      : `must be a ranker with a kind that is a text, or a function that makes one (${RANKER_FACTORY})`;
  }
  const source = Function.prototype.toString.call(value);
  if (/^class\b/.test(source))
    return `is a class: give an instance, or (docs) => new Ranker(docs) (${RANKER_FACTORY})`;
  if (Object.prototype.toString.call(value) === "[object AsyncFunction]")
    return `is an async function: a factory must be synchronous; wait in rank() instead (${RANKER_FACTORY})`;
  return undefined;
}

export class RankerSource {
  readonly #given: ToolRanker | ToolRankerFactory;
  readonly #option: string;
  readonly #docs: () => readonly ToolDoc[];
  readonly #warn: Warn;
  #made: ToolRanker | undefined;

  /**
   * @param option as users write it, for warnings
   * @param docs asked for when a factory is first called
   */
  constructor(
    given: ToolRanker | ToolRankerFactory,
    option: string,
    docs: () => readonly ToolDoc[],
    warn: Warn,
  ) {
    this.#given = given;
    this.#option = option;
    this.#docs = docs;
    this.#warn = warn;
  }

  /**
   * The same one each time, unless its factory failed: then it is called again.
   *
   * @throws what the factory throws, and TypeError, with a warning, for one that gives no ranker
   */
  get(): ToolRanker {
    this.#made ??= typeof this.#given === "function" ? this.#make(this.#given) : this.#given;
    return this.#made;
  }

  #make(factory: ToolRankerFactory): ToolRanker {
    const made: unknown = factory(this.#docs());
    const complaint = isThenable(made)
      ? "gave a promise: it must be synchronous"
      : typeof made === "function"
        ? "gave a function, and no ranker"
        : rankerComplaint(made) && "gave no ranker with a kind that is a text";
    if (complaint === undefined) return made as ToolRanker;
    if (isThenable(made)) made.then(undefined, () => {}); // nobody awaits it
    const message = `${this.#option} ${complaint}. Searches are unavailable.`;
    this.#warn(RANKER_FACTORY, message);
    throw new TypeError(message);
  }
}
