// The layer of the ring that budgets stand in: asks for each attempt, and lets through what there is room for.

import { isThenable } from "../../kernel/index.js";
import type { EffectContext } from "../effect.js";
import type { RingCheck } from "../layer.js";
import type { CallAccount } from "./account.js";
import type { Ledger } from "./ledger.js";
import { QuotaRefused, type Refusal } from "./refusal.js";
import type { Spender } from "./spender.js";

export interface Budgeting {
  readonly ledger: Ledger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Throws QuotaRefused. Calls outside of executions pass uncounted, because nothing of them is kept. */
export function withinBudgets({ ledger, now }: Budgeting): RingCheck {
  return {
    check(ctx) {
      const { account } = ctx;
      const spender = account?.spender;
      if (!account || !spender) return undefined;
      if (account.isOver) throw ctx.signal.reason; // it was called off while what stands before this took its time
      const startedAt = now();
      const answer = ledger.admit(spender, startedAt);
      if (!isThenable(answer)) return admit(answer, account, startedAt);
      return Promise.resolve(answer).then((refusal) => admitLate(refusal, ctx, account, spender, startedAt));
    },
  };
}

function admit(refusal: Refusal | undefined, account: CallAccount, startedAt: number): void {
  if (refusal) throw new QuotaRefused(refusal);
  account.begin(startedAt);
}

/** The attempt may have been called off while the answer was on its way; then nobody else would account for it. */
function admitLate(
  refusal: Refusal | undefined,
  { signal }: EffectContext,
  account: CallAccount,
  spender: Spender,
  startedAt: number,
): void {
  if (refusal || !account.isOver) return admit(refusal, account, startedAt);
  spender.keeper.takeBack(spender, startedAt);
  throw signal.reason;
}
