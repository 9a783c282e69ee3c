// Refund: what goes in, what is decided, what comes out. Everybody else imports these and nothing but these.

import { z } from "zod";

export const Refund = z.strictObject({
  order: z.string().min(1).max(64),
  cents: z.int().positive().max(10_000_00),
  reason: z.string().max(500),
});
export type Refund = z.infer<typeof Refund>;

/** What the gate `RefundApproval` delivers. heddle checks it before anything is recorded. */
export const Approval = z.strictObject({
  approved: z.boolean(),
  by: z.string().min(1).max(100),
  note: z.string().max(500).optional(),
});
export type Approval = z.infer<typeof Approval>;

/** What the payment provider is asked for, and what it answers. */
export const Payment = Refund.pick({ order: true, cents: true });
export type Payment = z.infer<typeof Payment>;
export const Receipt = z.object({ receipt: z.string() });
export type Receipt = z.infer<typeof Receipt>;

/** The provider has said no, and asking again would not help. */
export const Declined = z.object({ reason: z.string() });

export const Outcome = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("paid"), receipt: z.string() }),
  z.object({ kind: z.literal("refused"), by: z.string(), note: z.string().optional() }),
  z.object({ kind: z.literal("declined"), reason: z.string() }),
  /** Nobody decided in time. */
  z.object({ kind: z.literal("expired") }),
]);
export type Outcome = z.infer<typeof Outcome>;
