// RecordedAgent: an agent's transcript beside a log of what a runtime would record of it: every value has been bytes.

import { Transcript } from "../../../src/agent/transcript/transcript.js";
import type { TurnForm } from "../../../src/agent/transcript/turn-form.js";
import { readTurnRequest } from "../../../src/agent/transcript/turn-reader.js";
import { assistantMessage, withOwnIds } from "../../../src/agent/turn/answer.js";
import { fromWire, packRecord, toWire, unpackRecord } from "../../../src/kernel/codec/index.js";
import type { EventEnvelope, ExecutionState, Frame } from "../../../src/kernel/index.js";
import type { LlmRequest, LlmResponse, LlmToolSpec } from "../../../src/llm/index.js";

export const BYTES_MAX = 2_048;

export function recorded<T>(value: T): T {
  return fromWire(unpackRecord(packRecord(toWire(value)))) as T;
}

export const bytesOf = (value: unknown): number => packRecord(toWire(value)).length;

export class RecordedAgent {
  readonly transcript = new Transcript();
  readonly events: EventEnvelope[] = [];
  /** What each turn's effect was given. */
  readonly given = new Map<string, LlmRequest>();
  readonly forms: TurnForm[] = [];
  system: string | undefined;
  tools: readonly LlmToolSpec[] = [];
  #turn = -1;
  #calls: { id: string; name: string }[] = [];
  readonly #taken = new Set<string>();

  get turnId(): string {
    return `agent:a#turn:${this.#turn}`;
  }

  #append(type: string, payload: unknown): void {
    this.events.push({
      executionId: "x",
      sequence: this.events.length,
      timestamp: 0,
      type,
      payload: recorded(payload),
    });
  }

  /** A whole turn: the request, its answer, the results of its calls. */
  turn(response: LlmResponse, results: readonly unknown[] = []): void {
    this.#turn++;
    const stepId = this.turnId;
    const { form, expand } = this.transcript.turn(stepId, this.system, this.tools);
    this.forms.push(form);
    this.#append("STEP_STARTED", { stepId, input: form });
    this.given.set(stepId, expand());
    this.#append("STEP_COMPLETED", { stepId, output: response });
    const answer = recorded(response);
    const message = withOwnIds(assistantMessage(answer), this.#turn, this.#taken);
    this.transcript.answer(stepId, answer, message);
    this.#calls = (message.toolCalls ?? []).map(({ id, name }) => ({ id, name }));
    for (const [index, call] of this.#calls.entries()) this.#result(index, call, results[index]);
  }

  #result(index: number, call: { id: string; name: string }, output: unknown): void {
    const stepId = `${this.turnId}:tool:${index}`;
    this.#append("STEP_STARTED", { stepId, input: {} });
    this.#append("STEP_COMPLETED", { stepId, output });
    this.transcript.result(stepId, call, recorded(output), BYTES_MAX);
  }

  /** What a compaction does: a summary of what is left out, by a step of its own. */
  compact(keep: number): void {
    const { messages } = this.transcript;
    const stepId = `${this.turnId}:compact:${this.events.length}`;
    const { form, expand } = this.transcript.excerpt(0, messages.length - keep);
    this.forms.push(form);
    this.#append("STEP_STARTED", { stepId, input: form });
    this.given.set(stepId, expand());
    this.#append("STEP_COMPLETED", { stepId, output: { content: "sum", stopReason: "end" } });
    this.transcript.compact(keep, { role: "user", content: `Before: ${messages.length - keep} messages.` });
  }

  read(stepId: string): LlmRequest {
    return readTurnRequest(this.events, stepId);
  }

  /** The folded state, as far as a reader looks at it. */
  get state(): Pick<ExecutionState, "frames" | "decisions"> {
    const frames: Record<string, Frame> = {};
    for (const { type, payload } of this.events) {
      const { stepId, input, output } = payload as { stepId: string; input?: unknown; output?: unknown };
      const before = frames[stepId] ?? { stepId, attempts: 1, startedAt: 0, input, status: "started" };
      frames[stepId] = type === "STEP_COMPLETED" ? { ...before, status: "completed", output } : before;
    }
    return { frames, decisions: {} };
  }
}

export function answer(content: string, ...calls: readonly string[]): LlmResponse {
  return {
    content,
    stopReason: calls.length > 0 ? "toolUse" : "end",
    ...(calls.length > 0 && {
      toolCalls: calls.map((id) => ({ id, name: "look", input: { q: content.slice(0, 8) } })),
    }),
  };
}
