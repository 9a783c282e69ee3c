// CallAccount: what one attempt uses, from when it is let through until its outcome is at hand.
//
// C1  Reports add up. They count at once, for whoever asks next.
// C2  What is reported after the attempt is over counts nowhere.

import { checkUsage, type UsageReport, type Used } from "../../kernel/index.js";
import type { Spender } from "./spender.js";

export class CallAccount {
  /** Absent where no budgets are configured: then it is only what the effect reports. */
  readonly spender: Spender | undefined;
  #tokens = 0;
  #cost = 0;
  #hasReported = false;
  #startedAt: number | undefined;
  #endedAt: number | undefined;
  #isOver = false;

  constructor(spender?: Spender) {
    this.spender = spender;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get hasReported(): boolean {
    return this.#hasReported;
  }

  /** @throws INPUT_INVALID for what is no number of at least 0 */
  report(usage: UsageReport): void {
    const { tokens, cost } = checkUsage(usage);
    if (this.#isOver) return; // C2
    this.#hasReported = true;
    this.#tokens += tokens;
    this.#cost += cost;
    this.spender?.keeper.report(this.spender, tokens, cost);
  }

  /** It was let through. */
  begin(now: number): void {
    this.#startedAt = now;
  }

  /** Its outcome is there. */
  end(now: number): void {
    this.#endedAt ??= now;
  }

  /** Takes no more. Returns what is to be recorded of it; undefined when it did not begin and reported nothing. */
  close(now: number): Used | undefined {
    if (this.#isOver) return undefined;
    this.#isOver = true;
    const startedAt = this.#startedAt;
    if (startedAt === undefined && !this.#hasReported) return undefined;
    const wallMs = startedAt === undefined ? undefined : Math.max(0, (this.#endedAt ?? now) - startedAt);
    return this.#hasReported
      ? { tokens: this.#tokens, cost: this.#cost, wallMs, startedAt }
      : { wallMs, startedAt };
  }

  /** What becomes of it is nobody's business any more, as when the log failed under it. */
  drop(): void {
    this.#isOver = true;
  }
}
