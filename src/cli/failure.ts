// Failure: what a command cannot do, in words for stderr, and the exit code that goes with it.

import { HeddleError, type HeddleErrorCode } from "../kernel/errors.js";
import { printable } from "./render/text.js";

/** 0 done, 1 it could not be done (nothing found, not readable), 2 the command line makes no sense. */
export type ExitCode = 0 | 1 | 2 | 130 | 143;

/** Thrown to end a command. Several lines: the first says what happened, the rest what to do. */
export class CommandFailure extends Error {
  readonly exitCode: ExitCode;
  readonly code: HeddleErrorCode | undefined;

  constructor(exitCode: ExitCode, message: string, code?: HeddleErrorCode) {
    super(message);
    this.exitCode = exitCode;
    this.code = code;
  }
}

export interface FailureReport {
  readonly exitCode: ExitCode;
  readonly text: string;
}

/** What to tell of anything that was thrown. */
export function reportOf(error: unknown): FailureReport {
  if (error instanceof CommandFailure) return report(error.exitCode, error.message, error.code);
  if (error instanceof HeddleError) return report(1, error.message, error.code);
  const words = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return report(1, `${words}\nThis is a bug in heddle: please report it with the lines above.`, undefined);
}

function report(exitCode: ExitCode, message: string, code: HeddleErrorCode | undefined): FailureReport {
  const [first = "", ...rest] = message.split("\n").map(printable);
  const named = code === undefined ? first : `${first} (${code})`;
  return { exitCode, text: ["error: " + named, ...rest].join("\n") };
}
