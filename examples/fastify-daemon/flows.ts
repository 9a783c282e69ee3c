// Flows: what happens to one refund. Importing this module does nothing, so any thread may load it.
//
// Between any two lines of a flow the process may be killed, or the person who has to decide may be away for a week. It
// goes on at the line it had reached, with the results it had.

import { defineFlow, flow$, hasCode, step$, TypedFailure } from "heddle";
import { Approval, Declined, Outcome, Payment, Receipt, Refund } from "./refund.js";

const UNATTENDED_CENTS_MAX = 100_00;
const WEEK_MS = 7 * 24 * 60 * 60 * 1000;

/** Pays the money back. It has no handler, so it runs the effect of its name (effects.ts). */
const pay = step$({
  id: "pay",
  inputSchema: Payment,
  outputSchema: Receipt,
  errors: { declined: Declined },
  retry: { maxAttempts: 8, baseDelayMs: 250 },
  timeoutMs: 30_000,
});

export const refunds = defineFlow(
  flow$({
    id: "refunds",
    version: "1",
    inputSchema: Refund,
    outputSchema: Outcome,
    steps: [pay],
    resumeSchemas: { RefundApproval: Approval },
  }),
  async (ctx, { order, cents }): Promise<Outcome> => {
    // Decided once and recorded: another limit in a later release changes nothing for refunds that are under way.
    const needsApproval = await ctx.decide("needs-approval", () => cents > UNATTENDED_CENTS_MAX);
    if (needsApproval) {
      try {
        const { approved, ...decision } = await ctx.suspend<Approval>({
          on: "RefundApproval",
          timeout: WEEK_MS,
        });
        if (!approved) return { kind: "refused", ...decision };
      } catch (error) {
        if (hasCode(error, "GATE_TIMED_OUT")) return { kind: "expired" };
        throw error;
      }
    }
    try {
      const { receipt } = await ctx.run(pay, { order, cents });
      return { kind: "paid", receipt };
    } catch (error) {
      if (error instanceof TypedFailure && error.channel === "declined") {
        return { kind: "declined", ...Declined.parse(error.payload) };
      }
      throw error;
    }
  },
);
