// Total: what one flow or tenant has used in one kind of window, over all partitions.

import type { Meter, MeterRow } from "../../kernel/index.js";
import type { Bookings } from "./bookings.js";
import type { Counted, Line } from "./line.js";
import { Tally } from "./tally.js";

export class Total implements Counted {
  readonly scope: MeterRow["scope"];
  readonly of: string;
  readonly line: Line;
  bookings: Bookings | undefined;
  /** By partition. Each is written by the owner of that partition, and read again when its log is. */
  readonly #shares: (Tally | undefined)[] = [];

  constructor(scope: MeterRow["scope"], of: string, line: Line) {
    this.scope = scope;
    this.of = of;
    this.line = line;
  }

  share(partition: number): Tally {
    return this.#shares[partition] ?? this.#put(partition, new Tally(this.line.perMs));
  }

  /** Puts what a log says in the place of what was known of its partition. */
  load(partition: number, row: MeterRow | undefined): void {
    this.#put(partition, new Tally(this.line.perMs, row?.windowStart, row));
  }

  /** Without holes, which would make it slow. */
  #put(partition: number, share: Tally): Tally {
    while (this.#shares.length <= partition) this.#shares.push(undefined);
    this.#shares[partition] = share;
    return share;
  }

  row(partition: number): MeterRow {
    const { scope, of, line } = this;
    const { windowStart, kept } = this.share(partition);
    return { scope, of, perMs: line.perMs, windowStart, ...kept };
  }

  used(meter: Meter, now: number): number {
    let sum = 0;
    for (const share of this.#shares) sum += share?.used(meter, now) ?? 0;
    return sum;
  }
}
