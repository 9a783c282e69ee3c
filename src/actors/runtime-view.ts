// RuntimeView: the runtime's doors for one caller. Everything asked through it is asked by that principal.

import type { Principal } from "../effects/index.js";
import type { ExecutionHeader, ExecutionState, ListFilter, RegisteredFlow } from "../kernel/index.js";
import type { CancelOptions, ExecutionDoors, ResumeOptions, StartOptions } from "./execution-doors.js";
import type { ExecutionHandle } from "./handle.js";
import type { InDoubtVerdict } from "./in-doubt.js";
import type { ResumeRequest } from "./messages.js";

export class RuntimeView {
  readonly #runtime: ExecutionDoors;
  readonly #principal: Principal;

  constructor(runtime: ExecutionDoors, principal: Principal) {
    this.#runtime = runtime;
    this.#principal = principal;
  }

  /** The execution acts for this principal, unless `principal` says for whom else; whether it may is asked of the authorizer. */
  start<TIn, TOut>(
    flow: RegisteredFlow<TIn, TOut>,
    input: NoInfer<TIn>,
    options: Omit<StartOptions, "caller"> = {},
  ): Promise<ExecutionHandle<TOut>> {
    const caller = this.#principal;
    const { principal = caller } = options; // told to be undefined, it would act for nobody, whom no tenant's switch stops
    return this.#runtime.start(flow, input, { ...options, principal, caller });
  }

  resume(
    executionId: string,
    request: ResumeRequest,
    options: Omit<ResumeOptions, "principal"> = {},
  ): Promise<ExecutionHandle> {
    return this.#runtime.resume(executionId, request, { ...options, ...this.#caller });
  }

  resolveInDoubt(executionId: string, stepId: string, verdict: InDoubtVerdict): Promise<void> {
    return this.#runtime.resolveInDoubt(executionId, stepId, verdict, this.#caller);
  }

  cancel(
    executionId: string,
    reason?: string,
    options: Omit<CancelOptions, "principal"> = {},
  ): Promise<void> {
    return this.#runtime.cancel(executionId, reason, { ...options, ...this.#caller });
  }

  handle(executionId: string): ExecutionHandle {
    return this.#runtime.handle(executionId, this.#caller);
  }

  loadState(executionId: string): Promise<ExecutionState> {
    return this.#runtime.loadState(executionId, this.#caller);
  }

  list(filter?: ListFilter): Promise<ExecutionHeader[]> {
    return this.#runtime.list(filter, this.#caller);
  }

  get #caller(): { readonly principal: Principal } {
    return { principal: this.#principal };
  }
}
