// The request of a turn, as people read it: who said what, in few words or in all of them.

import { inspect } from "node:util";
import { describeValue } from "../../kernel/codec/index.js";
import { taintOrigin, unwrapTainted } from "../../kernel/taint.js";
import type { LlmMessage } from "../../llm/index.js";
import type { TurnRequest } from "../turn-requests.js";
import { cut, printable } from "./text.js";

/** One line of at most `charsMax` characters: how many messages, and the last one. */
export function requestWords(turn: TurnRequest, charsMax: number): string {
  if (!turn.ok) return cut(printable(`[${turn.words}]`), charsMax);
  const { messages } = turn.request;
  const last = messages.at(-1);
  const words = last ? `${sizeWords(turn)}; ${speaker(last)}: ${flat(said(last))}` : sizeWords(turn);
  return cut(printable(words), charsMax);
}

export interface RequestLayout {
  readonly width: number;
  /** Messages listed, the last ones. */
  readonly shown: number;
  /** Each in all its words. */
  readonly whole: boolean;
}

/** A line a message, or as many as it takes. */
export function requestLines(turn: TurnRequest, { width, shown, whole }: RequestLayout): string[] {
  if (!turn.ok) return [printable(`[${turn.words}]`)];
  const { messages, system } = turn.request;
  const listed = shown === 0 ? [] : messages.slice(-shown);
  const hidden = messages.length - listed.length;
  const lines = (label: string, text: string): string[] => {
    if (!whole) return [cut(printable(`${label}: ${flat(text)}`), width)];
    return `${label}: ${text}`.split("\n").map(printable);
  };
  return [
    printable(sizeWords(turn)),
    ...(system !== undefined && hidden === 0 ? lines("system", system) : []),
    ...(hidden > 0 ? [`(${hidden} before these)`] : []),
    ...listed.flatMap((message) => lines(speaker(message), said(message))),
  ];
}

function sizeWords({ request }: Extract<TurnRequest, { ok: true }>): string {
  const { messages, tools = [] } = request;
  return `${counted(messages.length, "message")}, ${counted(tools.length, "tool")}`;
}

function counted(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

function speaker(message: LlmMessage): string {
  const name = message.role === "tool" ? `tool ${message.toolName}` : message.role;
  const origin = taintOrigin(message.content);
  return origin === undefined ? name : `${name} (from ${origin})`;
}

function said(message: LlmMessage): string {
  const content: unknown = bare(message.content);
  const text = typeof content === "string" ? content : partsWords(content);
  const calls = message.role === "assistant" ? (message.toolCalls ?? []) : [];
  const called = calls.map(({ name, input }) => `calls ${name} ${inspect(input, { breakLength: Infinity })}`);
  return [...(text === "" ? [] : [text]), ...called].join("\n");
}

function partsWords(parts: unknown): string {
  if (!Array.isArray(parts)) return describeValue(parts);
  return parts
    .map((part: { readonly text?: unknown }) => {
      const text = bare(part.text);
      return typeof text === "string" ? text : describeValue(part);
    })
    .join("\n");
}

/** For eyes alone. */
function bare(value: unknown): unknown {
  try {
    return unwrapTainted(value);
  } catch {
    return "[content with a mark that tainted() did not make]";
  }
}

function flat(text: string): string {
  return text.replaceAll(/\s+/g, " ");
}
