// Statuses as people read and type them.

import { FILED_STATUSES, type FiledStatus } from "../../kernel/status.js";
import type { Colors } from "../terminal.js";

export function statusWords(status: FiledStatus): string {
  return status === "setAside" ? "set aside" : status;
}

/** The status somebody typed: `setAside`, `set-aside` and `set aside` are one. */
export function statusOf(typed: string): FiledStatus | undefined {
  const plain = typed.trim().replaceAll(/[-_ ]/g, "").toLowerCase();
  return FILED_STATUSES.find((status) => status.toLowerCase() === plain);
}

export function statusPaint(status: FiledStatus, colors: Colors): (text: string) => string {
  switch (status) {
    case "running":
      return colors.cyan;
    case "suspended":
      return colors.yellow;
    case "completed":
      return colors.green;
    case "failed":
      return colors.red;
    case "cancelled":
      return colors.dim;
    case "setAside":
      return colors.magenta;
  }
}
