// Search: how long random programs are looked for, and how slow the log is meanwhile.

import * as fc from "fast-check";

/** A longer search: PROPERTY_SCALE=50 npx vitest run test/properties */
export const SCALE = Number(process.env["PROPERTY_SCALE"] ?? 1);

export const runs = (numRuns: number): fc.Parameters<unknown> => ({ numRuns: Math.ceil(numRuns * SCALE) });

/** How slow the log is, in turns of the event loop. Slow commits let passes advance while they are on their way. */
export const pace = fc.record({
  before: fc.constantFrom(0, 0, 1, 3),
  after: fc.constantFrom(0, 0, 1, 5),
  read: fc.constantFrom(0, 0, 1, 4),
});
