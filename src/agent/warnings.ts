// Warnings: what is odd and works. Whoever listens is told; otherwise the process is.

type OnWarn = ((message: string) => void) | undefined;

type WarningCode =
  | "LOOM_AGENT_RANKER_FACTORY"
  | "LOOM_AGENT_REASONING_DISCARDED"
  | "LOOM_AGENT_REQUIRE_APPROVAL_DEPRECATED"
  | "LOOM_AGENT_SKILL_CHANGED"
  | "LOOM_AGENT_TOOL_CHANGED"
  | "LOOM_AGENT_TRANSCRIPT_LARGE";

export type Warn = (code: WarningCode, message: string) => void;

export function warnerOf(onWarn: OnWarn): Warn {
  return (code, message) => warn(onWarn, code, message);
}

export function warn(onWarn: OnWarn, code: WarningCode, message: string): void {
  if (onWarn) onWarn(`${code}: ${message}`);
  else process.emitWarning(message, { code });
}

/** Who has been told of an earlier name: once is enough. */
const told = new WeakSet<object>();

export function warnOfRequireApproval(onWarn: OnWarn): void {
  const listener = onWarn ?? process;
  if (told.has(listener)) return;
  told.add(listener);
  const message = "requireApproval is an earlier name: use needsApproval, which is true where it was false.";
  warn(onWarn, "LOOM_AGENT_REQUIRE_APPROVAL_DEPRECATED", message);
}
