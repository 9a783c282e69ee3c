// RebuiltRequest: a request put together again, one form after the other.

import type { LlmMessage, LlmRequest, LlmToolSpec } from "../../llm/index.js";
import { EMPTY, rolled, textOf } from "./fingerprint.js";
import { MenuMark } from "./menu-mark.js";
import { requestOf } from "./request-of.js";
import type { MessageSource, TurnForm } from "./turn-form.js";

export class RebuiltRequest {
  #messages: LlmMessage[] = [];
  #rolling = EMPTY;
  #system: string | undefined;
  #tools: readonly LlmToolSpec[] = [];
  readonly #menu = new MenuMark();

  /** Goes on to the request of a form whose base this is. To be thrown away when it throws. */
  advance(
    { from = 0, to = this.#messages.length, first = [], add, system, menu }: TurnForm,
    read: (source: MessageSource) => LlmMessage,
  ): void {
    if (first.length > 0 || from > 0 || to < this.#messages.length) {
      const kept = this.#messages.slice(from, to);
      this.#messages = [];
      this.#rolling = EMPTY;
      for (const source of first) this.#add(read(source));
      for (const message of kept) this.#add(message);
    }
    for (const source of add) this.#add(read(source));
    if (system !== undefined) this.#system = system ?? undefined;
    if (menu) this.#tools = [...this.#tools.slice(0, menu.keep), ...menu.add];
    if (system !== undefined || menu) this.#menu.advance(this.#system, this.#tools);
  }

  #add(message: LlmMessage): void {
    this.#messages.push(message);
    this.#rolling = rolled(this.#rolling, textOf(message));
  }

  /** As the form has it, if this is what was sent. */
  get digest(): string {
    return rolled(this.#rolling, this.#menu.digest);
  }

  request(): LlmRequest {
    return requestOf([...this.#messages], this.#system, this.#tools);
  }
}
