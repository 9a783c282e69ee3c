// KillSwitch: stops effects, those of everybody, of one tenant, or of one flow, until it is released. Executions are not
// ended: their steps fail, and a flow may catch that, or be started again.
//
// Owns       what is stopped, in this thread.
// Leaves     other threads to whoever follows it: they have switches of their own, which are set to what this one has.

import { HeddleError } from "../kernel/index.js";
import { isName, tenantOf } from "./effect.js";
import type { RingCheck } from "./layer.js";

/** What a switch covers. */
export type KillScope =
  | { readonly kind: "system" }
  | { readonly kind: "tenant"; readonly tenant: string }
  | { readonly kind: "flow"; readonly flowId: string };

export interface KillRecord {
  readonly scope: KillScope;
  readonly reason: string;
}

export class KillSwitch {
  readonly #stopped = new Map<string, KillRecord>();
  readonly #followers = new Set<(records: readonly KillRecord[]) => Promise<unknown>>();

  /**
   * Stops effects of the scope, in this thread from now on and in all others when the promise resolves; until then they may let
   * some through. Those under way go on.
   *
   * @throws INPUT_INVALID for what is no scope, or a reason that is no text: nothing is stopped then
   */
  async engage(scope: KillScope, reason: string): Promise<void> {
    const name = nameOf(scope);
    if (typeof reason !== "string") throw invalid(`a reason is text, not ${typeof reason}`);
    this.#stopped.set(name, { scope: { ...scope }, reason });
    await this.#spread();
  }

  /** @throws INPUT_INVALID for what is no scope */
  async release(scope: KillScope): Promise<void> {
    this.#stopped.delete(nameOf(scope));
    await this.#spread();
  }

  /** Sets it to exactly these. */
  replace(records: readonly KillRecord[]): Promise<void> {
    this.#stopped.clear();
    for (const record of records) this.#stopped.set(nameOf(record.scope), record);
    return this.#spread();
  }

  /** Tells the follower of every change; a change is complete when all of them are done with it. Returns the way to stop that. */
  follow(follower: (records: readonly KillRecord[]) => Promise<unknown>): () => void {
    this.#followers.add(follower);
    return () => void this.#followers.delete(follower);
  }

  async #spread(): Promise<void> {
    const records = this.list();
    await Promise.all([...this.#followers].map((follower) => follower(records)));
  }

  /** Everything that is stopped. */
  list(): readonly KillRecord[] {
    return [...this.#stopped.values()];
  }

  /** Why effects of this flow and tenant are stopped, if they are. */
  reasonFor(flowId: string, tenant: string | undefined): KillRecord | undefined {
    if (this.#stopped.size === 0) return undefined;
    return (
      this.#stopped.get(nameOf({ kind: "system" })) ??
      (tenant === undefined ? undefined : this.#stopped.get(nameOf({ kind: "tenant", tenant }))) ??
      this.#stopped.get(nameOf({ kind: "flow", flowId }))
    );
  }
}

/** The ring's layer: throws EFFECT_STOPPED. */
export function stopWhenKilled(killSwitch: KillSwitch): RingCheck {
  return {
    check({ principal, workflowId, toolId }) {
      const stopped = killSwitch.reasonFor(workflowId, tenantOf(principal));
      if (!stopped) return;
      const { kind } = stopped.scope;
      const message = `Effect ${toolId} was stopped by the kill switch of the ${kind}: ${stopped.reason}.`;
      throw new HeddleError("EFFECT_STOPPED", message, { details: { toolId, scope: kind } });
    },
  };
}

/** Scopes come from consoles and requests, and a switch that took a misspelt one would stop nothing, in silence. */
function nameOf(scope: KillScope): string {
  const { kind, tenant, flowId } = (scope ?? {}) as { readonly [field: string]: unknown };
  if (kind === "system") return "system";
  if (kind === "tenant" && isName(tenant)) return `tenant ${tenant}`;
  if (kind === "flow" && isName(flowId)) return `flow ${flowId}`;
  throw invalid('a scope is { kind: "system" }, { kind: "tenant", tenant } or { kind: "flow", flowId }');
}

function invalid(rule: string): HeddleError {
  return new HeddleError("INPUT_INVALID", `Kill switch: ${rule}. Nothing was changed.`);
}
