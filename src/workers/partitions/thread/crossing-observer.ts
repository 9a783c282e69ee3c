// CrossingObserver: what an observer hears in a partition thread, on its way to the host's hooks and subscribers. Records
// cross as they are stored; whoever calls the hooks decodes them.

import { Observer, type Written } from "../../../actors/index.js";
import { recordToWire } from "../../../kernel/store/record.js";
import { packFailure } from "../../packets/index.js";
import type { Outbox } from "../outbox.js";
import { Hook, type HostMessage, ToHost } from "../protocol.js";
import type { ThreadSettings } from "../setup.js";
import type { News } from "./news.js";

export class CrossingObserver extends Observer {
  readonly #outbox: Outbox<HostMessage>;
  readonly #news: News;
  readonly #hooks: ThreadSettings["hooks"];

  constructor(outbox: Outbox<HostMessage>, news: News, hooks: ThreadSettings["hooks"]) {
    super({});
    this.#outbox = outbox;
    this.#news = news;
    this.#hooks = hooks;
  }

  override appended(moves: readonly Written[]): void {
    if (this.#hooks.onEvent) this.#post(Hook.onEvent, moves);
  }

  override durable(moves: readonly Written[]): void {
    if (this.#hooks.onDurableEvent) this.#post(Hook.onDurableEvent, moves);
    this.#news.durable(moves);
  }

  override warn(message: string): void {
    this.#outbox.post([ToHost.warning, message]);
  }

  override storageError(executionId: string, error: unknown): void {
    this.#outbox.post([ToHost.storageError, executionId, packFailure(error)]);
  }

  #post(hook: Hook, moves: readonly Written[]): void {
    for (const { header, record } of moves) {
      if (record) this.#outbox.post([ToHost.event, hook, header.id, record.sequence, recordToWire(record)]);
    }
  }
}
