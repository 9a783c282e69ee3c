// Report: what one run found out, as `--json` writes it.

import type { Machine } from "../harness/report.js";
import type { Reply } from "./in-own-process.js";

export type PeerRow = { readonly name: string } & Reply;

export interface PeerReport {
  readonly format: 1;
  readonly date: string;
  readonly quick: boolean;
  /** Of all systems that are programs for Node. */
  readonly node: string;
  readonly machine: Machine;
  readonly rows: readonly PeerRow[];
}
