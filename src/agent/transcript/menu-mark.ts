// MenuMark: the system prompt and the menu as the last turn had them. Menus grow at their end, so what changed is looked for there.

import type { LlmToolSpec } from "../../llm/index.js";
import { EMPTY, fingerprint, rolled, textOf } from "./fingerprint.js";
import { frozenCopy } from "./frozen.js";
import type { TurnForm } from "./turn-form.js";

const NO_TOOLS: readonly LlmToolSpec[] = [];

export class MenuMark {
  #system: string | undefined;
  #tools: readonly LlmToolSpec[] = NO_TOOLS;
  #frozen: readonly LlmToolSpec[] = NO_TOOLS;
  /** Of the first n tools, for each n. */
  #marks: readonly string[] = [EMPTY];
  #digest = digestOf(undefined, EMPTY);

  /** Copies that nobody can change: who has looked at one need not look again. */
  get tools(): readonly LlmToolSpec[] {
    return this.#frozen;
  }

  /** Of both together. */
  get digest(): string {
    return this.#digest;
  }

  /** What is new, and takes note of it. */
  advance(
    system: string | undefined,
    tools: readonly LlmToolSpec[] = NO_TOOLS,
  ): Pick<TurnForm, "system" | "menu"> {
    const kept = this.#kept(tools);
    const isMenu = kept === tools.length && kept === this.#tools.length;
    const isSystem = system === this.#system;
    if (isMenu && isSystem) return {};
    const add = tools.slice(kept);
    if (!isMenu) {
      const marks = this.#marks.slice(0, kept + 1);
      for (const spec of add) marks.push(rolled(marks.at(-1) ?? EMPTY, textOf(spec)));
      this.#marks = marks;
      this.#tools = [...tools];
      this.#frozen = [...this.#frozen.slice(0, kept), ...add.map(frozenCopy)];
    }
    this.#system = system;
    this.#digest = digestOf(system, this.#marks.at(-1) ?? EMPTY);
    return { ...(!isSystem && { system: system ?? null }), ...(!isMenu && { menu: { keep: kept, add } }) };
  }

  /** How many tools at the beginning are those of before. A tool has one spec for good, so to look at it is enough. */
  #kept(tools: readonly LlmToolSpec[]): number {
    let kept = 0;
    while (kept < tools.length && tools[kept] === this.#tools[kept]) kept++;
    return kept;
  }
}

function digestOf(system: string | undefined, tools: string): string {
  return fingerprint(`${system === undefined ? "-" : `+${system}`}\n${tools}`);
}
