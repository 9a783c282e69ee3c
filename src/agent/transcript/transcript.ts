// Transcript: the conversation of one agent, and where the log holds each of its messages.
//
// Owns       the messages, frozen; what of them the last turn's form covers, and where the others stand.
// Leaves     what is said to the loop, when to compact to compaction, reading back to turn-reader.ts.
//
// M1  A turn costs what is new in it. Only the list of messages is copied, once, when the effect is given its request.
// M2  Nothing here outlives the process: a replay makes the same transcript, and so the same forms.

import type {
  AssistantMessage,
  LlmMessage,
  LlmRequest,
  LlmResponse,
  LlmText,
  LlmToolSpec,
} from "../../llm/index.js";
import { EMPTY, rolled, textOf } from "./fingerprint.js";
import { frozenCopy } from "./frozen.js";
import { MenuMark } from "./menu-mark.js";
import { ownIds, shownChoice, shownResult } from "./message-of.js";
import { requestOf } from "./request-of.js";
import type { MessageSource, TurnForm } from "./turn-form.js";

/** What a step is given, and what the log keeps of it. */
export interface RecordedRequest {
  readonly form: TurnForm;
  /** The request, as `ExecutableTask.expand` is to give it. */
  readonly expand: () => LlmRequest;
}

/** A run of messages of an earlier request. */
interface Span {
  readonly base: string;
  readonly size: number;
  readonly from: number;
  readonly to: number;
}

export class Transcript {
  #messages: LlmMessage[] = [];
  #sizes: number[] = [];
  #rolling = EMPTY;
  #bytes = 0;
  /** The messages are these, then those of the span, then these. */
  #first: MessageSource[] = [];
  #span: Span | undefined;
  #added: MessageSource[] = [];
  readonly #menu = new MenuMark();

  get messages(): readonly LlmMessage[] {
    return this.#messages;
  }

  /** Of all messages as JSON, in UTF-8. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Of one, by its place. */
  bytesOf(index: number): number {
    return this.#sizes[index] ?? 0;
  }

  /** A message that no event holds. */
  say(message: LlmMessage): void {
    const said = frozenCopy(message);
    this.#add(said, { say: said });
  }

  /**
   * What the model answered at a step.
   *
   * @param message as the conversation has it: `assistantMessage(response)`, its calls maybe under other ids
   */
  answer(stepId: string, response: LlmResponse, message: AssistantMessage): void {
    const ids = ownIds(message, response);
    this.#add(frozenCopy(message), { answer: stepId, ...(ids && { ids }) });
  }

  /** What a step came to, shown as the answer to a call. */
  result(
    stepId: string,
    call: { readonly id: string; readonly name: string },
    output: unknown,
    bytesMax: number,
  ): void {
    const source = { result: stepId, call: call.id, tool: call.name, bytesMax };
    this.#add(frozenCopy(shownResult(source, output)), source);
  }

  /** What was decided about a call, shown as the answer to it: the `content` of the choice. */
  decided(
    decisionId: string,
    call: { readonly id: string; readonly name: string },
    content: LlmText,
    isError: boolean,
  ): void {
    const source = { decided: decisionId, call: call.id, tool: call.name, ...(isError && { isError }) };
    this.#add(frozenCopy(shownChoice(source, { content })), source);
  }

  /** The request of a turn. What comes next builds on it. */
  turn(stepId: string, system: string | undefined, tools: readonly LlmToolSpec[]): RecordedRequest {
    const count = this.#messages.length;
    const changed = this.#menu.advance(system, tools);
    const form = this.#form(0, count, changed, rolled(this.#rolling, this.#menu.digest));
    const all = this.#messages; // only ever added to
    const shown = this.#menu.tools;
    this.#first = [];
    this.#added = [];
    this.#span = { base: stepId, size: count, from: 0, to: count };
    return { form, expand: () => requestOf(all.slice(0, count), system, shown) };
  }

  /** A request of the messages from `from` up to `to` alone: what a summary is made of. Nothing builds on it. */
  excerpt(from: number, to: number): RecordedRequest {
    const all = this.#messages;
    const rolling = all.slice(from, to).map(textOf).reduce(rolled, EMPTY);
    const changed = { system: null, menu: { keep: 0, add: [] } };
    const form = this.#form(from, to, changed, rolled(rolling, new MenuMark().digest));
    return { form, expand: () => requestOf(all.slice(from, to), undefined, []) };
  }

  /** All but the last `keep` messages become these, which no event holds. */
  compact(keep: number, ...instead: readonly LlmMessage[]): void {
    const from = this.#messages.length - keep;
    const { first, span, added } = this.#sources(from, this.#messages.length);
    const kept = this.#messages.slice(from);
    this.#messages = [];
    this.#sizes = [];
    this.#rolling = EMPTY;
    this.#bytes = 0;
    this.#added = [];
    for (const message of instead) this.say(message);
    this.#first = [...this.#added, ...first];
    this.#span = span;
    this.#added = added;
    for (const message of kept) this.#enter(message);
  }

  #add(message: LlmMessage, source: MessageSource): void {
    this.#enter(message);
    this.#added.push(source);
  }

  #enter(message: LlmMessage): void {
    const json = textOf(message);
    const size = Buffer.byteLength(json);
    this.#messages.push(message);
    this.#sizes.push(size);
    this.#rolling = rolled(this.#rolling, json);
    this.#bytes += size;
  }

  #form(start: number, end: number, changed: Pick<TurnForm, "system" | "menu">, digest: string): TurnForm {
    const { first, span, added } = this.#sources(start, end);
    return {
      turn: 1,
      ...(span && { base: span.base }),
      ...(span && span.from > 0 && { from: span.from }),
      ...(span && span.to < span.size && { to: span.to }),
      ...(first.length > 0 && { first }),
      add: added,
      ...changed,
      count: end - start,
      digest,
    };
  }

  /** Where the messages from `start` up to `end` stand. */
  #sources(
    start: number,
    end: number,
  ): { readonly first: MessageSource[]; readonly span: Span | undefined; readonly added: MessageSource[] } {
    const span = this.#span;
    const before = this.#first.length;
    const within = span ? span.to - span.from : 0;
    const clipped = (from: number, size: number): readonly [number, number] => [
      Math.min(Math.max(start - from, 0), size),
      Math.min(Math.max(end - from, 0), size),
    ];
    const [from, to] = clipped(before, within);
    return {
      first: this.#first.slice(...clipped(0, before)),
      span: span && { ...span, from: span.from + from, to: span.from + to },
      added: this.#added.slice(...clipped(before + within, this.#added.length)),
    };
  }
}
