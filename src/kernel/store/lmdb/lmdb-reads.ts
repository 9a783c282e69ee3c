// LmdbReads: the reading half of a partition's log for those who do not own it.

import { storeClosed } from "../commit-failure.js";
import { PartitionReads } from "../partition-reads.js";
import type { PartitionRows } from "../rows.js";

/** Runs `use` on the rows as they are now; `undefined` when nothing was ever written to the partition. */
type View = <T>(use: (rows: PartitionRows) => T) => T | undefined;

export class LmdbReads extends PartitionReads {
  readonly #view: View;
  readonly #path: string;

  constructor(view: View, path: string) {
    super();
    this.#view = view;
    this.#path = path;
  }

  protected view<T>(use: (rows: PartitionRows) => T): T {
    let seen: { readonly found: T } | undefined;
    this.#view((rows) => {
      seen = { found: use(rows) };
    });
    // Owners write before they open their doors, so a partition without a file was taken away.
    if (!seen) throw storeClosed(this.#path);
    return seen.found;
  }
}
