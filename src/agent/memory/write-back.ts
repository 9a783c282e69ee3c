// Write-back: what an agent keeps of a run. A memory outlives the run and is read by others, so writing is either an effect under the ring,
// or somebody has said that it need not be one.

import { type ExecutionContext, tainted } from "../../kernel/index.js";
import type { LlmText } from "../../llm/index.js";
import type { AgentMemory, MemoryEntry } from "./agent-memory.js";

/** A run in short. */
export interface Exchange {
  /** Absent where the run had none, and went on from its history. */
  readonly prompt?: LlmText | undefined;
  readonly answer: string;
  /** Where the first text came from that the model has seen and nobody vouches for, if there was any. */
  readonly taintedBy?: string | undefined;
}

/** What the effect of `writeBack: { toolId }` is given. */
export interface MemoryWrite {
  readonly scope?: string;
  readonly entries: readonly MemoryEntry[];
}

/**
 * How prompt and answer of a run are kept. `toolId`: by an effect, as a recorded step, with all that stands around effects.
 * `unless`: by the memory itself, unless this says true; it is asked once, and what it said is recorded. `allowDirect`: by the
 * memory itself.
 */
export type WriteBack =
  | { readonly toolId: string }
  | { readonly unless: (exchange: Exchange) => boolean | Promise<boolean> }
  | { readonly allowDirect: true };

/** What is wrong with a value as `writeBack`, in words that follow on the option's name. */
export function writeBackComplaint(value: unknown): string | undefined {
  const { toolId, unless, allowDirect, ...others } = (value ?? {}) as Record<string, unknown>;
  const isOne = [toolId, unless, allowDirect].filter((way) => way !== undefined).length === 1;
  const isWhole =
    toolId === undefined ? typeof unless === "function" || allowDirect === true : isName(toolId);
  return isOne && isWhole && Object.keys(others).length === 0
    ? undefined
    : "must be { toolId } or { unless } or { allowDirect: true }: a memory that others read is not written by the way";
}

function isName(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

/**
 * Keeps an exchange. The answer of a model that has seen tainted text is kept tainted: it may say what that text wanted it to.
 * Recorded: it happens once, or again where a crash came between doing and recording it.
 *
 * @throws what memory or effect fail with
 */
export async function writeBack(
  ctx: Pick<ExecutionContext, "decide" | "execute">,
  loopId: string,
  memory: AgentMemory | undefined,
  how: WriteBack,
  exchange: Exchange,
): Promise<void> {
  const id = `${loopId}#remember`;
  const entries = entriesOf(exchange);
  if ("toolId" in how) {
    const scope = memory?.scope;
    const write: MemoryWrite = { ...(scope !== undefined && { scope }), entries };
    await ctx.execute({ id, kind: "memory", toolId: how.toolId }, write);
    return;
  }
  await ctx.decide(
    id,
    async () => {
      if ("unless" in how && (await how.unless(exchange))) return { written: false };
      await memory?.remember(entries);
      return { written: true };
    },
    { source: "agent-memory" },
  );
}

function entriesOf({ prompt, answer, taintedBy }: Exchange): readonly MemoryEntry[] {
  const said: MemoryEntry = {
    role: "assistant",
    content: taintedBy === undefined ? answer : tainted(answer, taintedBy),
  };
  return prompt === undefined ? [said] : [{ role: "user", content: prompt }, said];
}
