// Threads: where `--threads` puts what otherwise runs in one thread. The modules that threads load are told of the audit
// through the environment, of which each thread gets a copy: functions and open files cannot be handed to a thread.

import { HeddleError, type WorkersConfig } from "heddle";
import { type AuditData, partsOf } from "./data.js";

const DIRECTORY = "LICENSE_AUDIT_DIRECTORY";
const KILL_AT_LINE = "LICENSE_AUDIT_KILL_AT_LINE";

/** The threads for an audit. */
export function threadsFor(data: AuditData, killAtLine: number, threads: number): WorkersConfig {
  process.env[DIRECTORY] = data.dir;
  process.env[KILL_AT_LINE] = String(killAtLine);
  return {
    actors: threads,
    app: new URL("./thread-flows.js", import.meta.url),
    effects: { module: new URL("./thread-effects.js", import.meta.url), maxThreads: threads },
  };
}

/** In a thread: which audit it works for. */
export function auditOfThread(): { readonly data: AuditData; readonly killAtLine: number } {
  const { [DIRECTORY]: directory, [KILL_AT_LINE]: killAtLine } = process.env;
  if (directory === undefined)
    throw new HeddleError("CONFIG_INVALID", `This module runs in threads that are given ${DIRECTORY}.`);
  return { data: partsOf(directory), killAtLine: Number(killAtLine) };
}
