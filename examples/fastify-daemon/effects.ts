// Effects: what touches the world, by id. Importing this module does nothing; what an effect needs it takes from its
// input, its context and the environment when it is called, so it may be called in any thread.

import { setTimeout as delay } from "node:timers/promises";
import { type Effect, type EffectContext, fail, ToolEffect } from "heddle";
import type { Payment } from "./refund.js";

export const effects = {
  pay: new ToolEffect(pay),
} satisfies Record<string, Effect>;

/** Statuses that say "not now": the step's retry policy asks again. Every other 4xx is the provider's last word. */
const NOT_NOW = new Set([408, 409, 425, 429]);

/**
 * An effect runs at least once: the process may die after the provider has paid and before heddle has recorded it. The
 * idempotency key is the same for every attempt, so the provider can tell a repeat from a second refund.
 */
async function pay(payment: Payment, { idempotencyKey, signal }: EffectContext): Promise<unknown> {
  const provider = process.env["PAYMENTS_URL"];
  if (provider === undefined || provider === "") {
    // Nobody to ask: take as long as a provider would.
    await delay(250, undefined, { signal });
    return { receipt: `demo/${idempotencyKey}` };
  }
  const response = await fetch(new URL("/payments", provider), {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": idempotencyKey },
    body: JSON.stringify(payment),
    signal,
  });
  if (response.ok) return response.json(); // the step's outputSchema checks it
  const answer = `${response.status}: ${await response.text()}`;
  if (response.status >= 500 || NOT_NOW.has(response.status)) throw new Error(`The provider said ${answer}`);
  return fail("declined", { reason: answer });
}
