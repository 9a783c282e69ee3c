// FlowRegistry: the flows this process can run, by id and version. An execution keeps the version it started with.

import {
  type FlowDefinition,
  type FlowModule,
  type FlowRunner,
  HeddleError,
  type RegisteredFlow,
  type SetAside,
} from "../kernel/index.js";

/** Whether a value is a flow with its runner. */
export function isRegisteredFlow(value: unknown): value is RegisteredFlow {
  const { definition, runner } = (value ?? {}) as Partial<RegisteredFlow>;
  return typeof definition?.id === "string" && typeof runner === "function";
}

/** Every registered flow a module exports. */
export function flowsOf(module: FlowModule): RegisteredFlow[] {
  return Object.values(module).filter(isRegisteredFlow);
}

export class FlowRegistry {
  readonly #flows = new Map<string, Map<string, RegisteredFlow>>();

  /** The same definition and runner may be registered again; a different flow under one name is a conflict. */
  register(definition: FlowDefinition, runner: FlowRunner): void {
    if (typeof definition?.id !== "string" || typeof runner !== "function") {
      throw new HeddleError(
        "CONFIG_INVALID",
        "registerFlow takes a definition made by flow$ and its runner function.",
      );
    }
    const { id, version } = definition;
    const versions = this.#flows.get(id) ?? new Map<string, RegisteredFlow>();
    const known = versions.get(version);
    if (known && (known.definition !== definition || known.runner !== runner)) {
      throw new HeddleError(
        "DEFINITION_CONFLICT",
        `Another flow is registered as ${id} version ${version}; give one of them another id, or a changed flow another version.`,
        { details: { flowId: id, version } },
      );
    }
    versions.set(version, known ?? { definition, runner });
    this.#flows.set(id, versions);
  }

  /** Every flow, in the order of registering. */
  all(): RegisteredFlow[] {
    return [...this.#flows.values()].flatMap((versions) => [...versions.values()]);
  }

  find(flowId: string, version: string): RegisteredFlow | undefined {
    return this.#flows.get(flowId)?.get(version);
  }

  /** The flow to start, or FLOW_UNKNOWN with the names that are known. */
  require(definition: FlowDefinition | undefined): RegisteredFlow {
    if (typeof definition?.id !== "string") {
      throw new HeddleError(
        "FLOW_UNKNOWN",
        "What was given is no flow: make one by defineFlow(definition, runner) and register it.",
      );
    }
    const flow = this.find(definition.id, definition.version);
    if (flow) return flow;
    const versions = this.#flows.get(definition.id);
    const known = versions
      ? `Version ${[...versions.keys()].join(", ")} of it is registered.`
      : `Registered are: ${[...this.#flows.keys()].slice(0, 10).join(", ") || "none"}.`;
    throw new HeddleError(
      "FLOW_UNKNOWN",
      `No flow is registered as ${definition.id} version ${definition.version}. ${known} Pass it to defineConfig({ flows }) or registerFlow.`,
      { details: { flowId: definition.id, version: definition.version } },
    );
  }

  /** Why an execution of this flow cannot run, in the words of its header. */
  missing(flowId: string, version: string): SetAside {
    const versions = this.#flows.get(flowId);
    return {
      code: "FLOW_UNKNOWN",
      message: versions
        ? `It started with version ${version} of flow ${flowId}; registered: ${[...versions.keys()].join(", ")}. Register version ${version} to go on.`
        : `Flow ${flowId} is not registered. Register it to go on.`,
    };
  }
}
