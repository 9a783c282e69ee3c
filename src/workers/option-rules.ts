// Rules for options that partition threads and the effect pool have in common. Complaints name the option as a user wrote it.

import { isAbsolute } from "node:path";
import { pathToFileURL } from "node:url";
import type { ResourceLimits } from "node:worker_threads";
import { invalidOption } from "../kernel/errors.js";

/** How long a module may take to load, in milliseconds. */
export const LOAD_TIMEOUT_MS = 60_000;

const RESOURCE_LIMITS: readonly string[] = [
  "maxYoungGenerationSizeMb",
  "maxOldGenerationSizeMb",
  "codeRangeSizeMb",
  "stackSizeMb",
] satisfies (keyof ResourceLimits)[];

/** The URL of a module that threads are to load. `example` is a file name for the complaint. */
export function moduleUrl(option: string, module: unknown, example: string): string {
  if (module instanceof URL) return module.href;
  if (typeof module === "string") {
    if (isAbsolute(module)) return pathToFileURL(module).href;
    if (/^(?:file|data|node):/.test(module)) return module;
  }
  throw invalidOption(
    option,
    `must be a URL or an absolute path, not ${shown(module)}: write new URL("./${example}", import.meta.url)`,
  );
}

export function checkResourceLimits(option: string, limits: unknown): void {
  if (limits === undefined) return;
  if (typeof limits !== "object" || limits === null) throw invalidOption(option, "must be an object");
  for (const [name, value] of Object.entries(limits)) {
    if (!RESOURCE_LIMITS.includes(name)) {
      const known = RESOURCE_LIMITS.join(", ");
      throw invalidOption(`${option}.${name}`, `is no limit of a worker thread. There are: ${known}`);
    }
    checkNumber(`${option}.${name}`, value, { least: 1, most: Infinity });
  }
}

export interface NumberRule {
  readonly least: number;
  readonly most: number;
  readonly isWhole?: boolean;
}

/** Absent is fine. */
export function checkNumber(option: string, value: unknown, { least, most, isWhole }: NumberRule): void {
  if (value === undefined) return;
  const fits = typeof value === "number" && value >= least && value <= most;
  if (fits && (!isWhole || Number.isInteger(value))) return;
  const range = most >= Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
  throw invalidOption(option, `must be a ${isWhole ? "whole " : ""}number ${range}, not ${shown(value)}`);
}

function shown(value: unknown): string {
  if (typeof value === "number") return String(value);
  return typeof value === "string" ? JSON.stringify(value) : typeof value;
}
