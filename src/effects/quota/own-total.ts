// OwnTotal: what one execution has used in one kind of window. There are very many, so it is one object, and made with the first
// attempt.

import type { Bookings } from "./bookings.js";
import type { Counted, Line } from "./line.js";
import { Tally } from "./tally.js";

export class OwnTotal extends Tally implements Counted {
  readonly line: Line;
  bookings: Bookings | undefined;

  constructor(line: Line) {
    super(line.perMs);
    this.line = line;
  }
}
