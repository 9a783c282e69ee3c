// FlowPolicies: the policies of flows, by the flow's id. Flows may be registered while the app runs, and theirs hold from then on.

import type { FlowDefinition, PolicyDefinition } from "../../kernel/index.js";

export class FlowPolicies {
  readonly #byFlow = new Map<string, Set<PolicyDefinition>>();

  constructor(flows: readonly { readonly definition: FlowDefinition }[] = []) {
    for (const { definition } of flows) this.add(definition);
  }

  /** Whether no flow has any. */
  get isEmpty(): boolean {
    return this.#byFlow.size === 0;
  }

  /** All versions of a flow are under the policies of each. Returns whether they are the first there are. */
  add({ id, policies = [] }: FlowDefinition): boolean {
    const wasEmpty = this.isEmpty;
    if (policies.length > 0) this.#byFlow.set(id, new Set([...(this.#byFlow.get(id) ?? []), ...policies]));
    return wasEmpty && !this.isEmpty;
  }

  of(flowId: string): readonly PolicyDefinition[] {
    return [...(this.#byFlow.get(flowId) ?? [])];
  }
}
