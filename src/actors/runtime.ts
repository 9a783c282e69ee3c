// ExecutionRuntime: the door through which programs start, resume, cancel and watch executions. It routes each call to
// the partition that owns the execution, and checks at this boundary whatever can be checked without it.

import { type EffectRuntime, isPrincipal, type Ledger, type Principal } from "../effects/index.js";
import {
  type Clock,
  checkDuration,
  checkId,
  contained,
  createIdSource,
  Deferred,
  type Entropy,
  type EventStore,
  type ExecutionHeader,
  type ExecutionState,
  type FillRandom,
  type FlowDefinition,
  type FlowRunner,
  fromWire,
  HeddleError,
  type ListFilter,
  NO_VAULT,
  parseWith,
  partitionOf,
  type RegisteredFlow,
  type SnapshotStore,
  secrecyOf,
  toWire,
  type ValueLimits,
  type Vault,
  type Wire,
} from "../kernel/index.js";
import type { Admission } from "./admission.js";
import {
  type ExecutionAction,
  type ExecutionAuthority,
  type ExecutionAuthorityOptions,
  type ExecutionAuthzRequest,
  executionAuthority,
  type ResumeAuthnRequest,
} from "./execution-authority.js";
import type {
  CallerOptions,
  CancelOptions,
  ExecutionDoors,
  ResumeOptions,
  StartOptions,
} from "./execution-doors.js";
import { FlowRegistry } from "./flow-registry.js";
import { type ExecutionHandle, type HandleHost, RuntimeHandle } from "./handle.js";
import { type InDoubtVerdict, readVerdict } from "./in-doubt.js";
import type { StartRequest } from "./intake.js";
import { LocalPartitions, type OutsideEffects } from "./local-partitions.js";
import type { Reply, ResumeRequest } from "./messages.js";
import { Observer, type ObserverHooks } from "./observer.js";
import type { PartitionLoad } from "./partition.js";
import type { Command, PartitionDoor, PartitionHost } from "./partition-host.js";
import { RuntimeView } from "./runtime-view.js";
import type { Awaited } from "./watchers.js";

export interface CloseOptions {
  /** How long steps in flight may go on, in milliseconds. Default 5,000. */
  readonly deadlineMs?: number;
}

export interface RuntimeOptions extends ObserverHooks, ExecutionAuthorityOptions {
  readonly eventStore: EventStore;
  readonly snapshotStore: SnapshotStore;
  readonly effectRuntime: EffectRuntime;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly fillRandom: FillRandom;
  readonly limits: ValueLimits;
  /** Seals what schemas mark. Default: without a key, so that marked values are refused. */
  readonly vault?: Vault | undefined;
  readonly snapshotEvery?: number | undefined;
  /** Whether `start` parses inputs by the flow's schema. Default true. */
  readonly validateInput?: boolean | undefined;
  /** Idle executions kept in memory, default 10,000. */
  readonly maxResident?: number | undefined;
  /** What runs effects outside this thread, when partitions run in it. */
  readonly effects?: OutsideEffects | undefined;
  /** Bounds what partitions have at work, when they run in this thread. */
  readonly admission?: Admission | undefined;
  /** The budgets of the ring, when partitions run in this thread. */
  readonly ledger?: Ledger | undefined;
  /** Told of each flow that is registered, before executions of it go on. */
  readonly onFlow?: ((definition: FlowDefinition) => void) | undefined;
  /** Where the partitions run, given the flows of this runtime. Default: in this thread. */
  readonly partitionHost?: ((registry: FlowRegistry) => PartitionHost) | undefined;
}

/** Idle executions each partition keeps in memory. */
export const DEFAULT_MAX_RESIDENT = 10_000;
const DEFAULT_CLOSE_DEADLINE_MS = 5_000;
/** As a list without a limit has it (ListFilter). */
const LISTED_MAX = 100;

type Phase =
  | { readonly kind: "built" }
  | { readonly kind: "opening" | "open" | "failed"; readonly opened: Promise<readonly PartitionDoor[]> }
  | { readonly kind: "closed"; readonly closing: Promise<void> };

export class ExecutionRuntime implements HandleHost, ExecutionDoors {
  readonly #options: RuntimeOptions;
  readonly #registry = new FlowRegistry();
  readonly #newId: () => string;
  readonly #validateInput: boolean;
  readonly #vault: Vault;
  readonly #authority: ExecutionAuthority | undefined;
  #phase: Phase = { kind: "built" };
  readonly #host: PartitionHost;
  #partitions: readonly PartitionDoor[] = [];

  constructor(options: RuntimeOptions) {
    this.#options = options;
    this.#newId = createIdSource(() => options.clock.now(), options.fillRandom);
    this.#validateInput = options.validateInput ?? true;
    this.#vault = options.vault ?? NO_VAULT;
    this.#authority = executionAuthority(options, (message) => new Observer(options).warn(message));
    this.#host = options.partitionHost?.(this.#registry) ?? this.#localPartitions();
  }

  #localPartitions(): PartitionHost {
    const { snapshotEvery, maxResident = DEFAULT_MAX_RESIDENT, ...options } = this.#options;
    const observer = new Observer(options);
    return new LocalPartitions({
      ...options,
      registry: this.#registry,
      observer,
      snapshotEvery,
      maxResident,
    });
  }

  /** Makes a flow startable, and lets executions that were waiting for it go on. */
  registerFlow<TIn, TOut>(definition: FlowDefinition<TIn, TOut>, runner: FlowRunner<TIn, TOut>): void {
    this.#registry.register(definition, runner);
    this.#options.onFlow?.(definition);
    this.#host.flowRegistered();
  }

  /**
   * Opens the log, takes ownership of its partitions and recovers what was running. Repeated calls wait for the first; after
   * a failure, as when another process owned the directory, the next call tries again.
   */
  open(): Promise<void> {
    if (this.#phase.kind === "built" || this.#phase.kind === "failed") {
      const opened = this.#openAll();
      this.#phase = { kind: "opening", opened };
      opened.catch(() => {
        // Every call that needs the log reports why it is not open.
        if (this.#phase.kind === "opening") this.#phase = { kind: "failed", opened };
      });
    }
    if (this.#phase.kind === "closed") return contained(Promise.reject(closedError()));
    return contained(this.#phase.opened.then(() => {}));
  }

  async #openAll(): Promise<readonly PartitionDoor[]> {
    this.#partitions = await this.#host.open();
    if (this.#phase.kind === "opening") this.#phase = { kind: "open", opened: this.#phase.opened };
    return this.#partitions;
  }

  /**
   * Starts an execution of a registered flow; resolves once it is durable.
   *
   * @throws FLOW_UNKNOWN, ID_INVALID, INPUT_INVALID, VALUE_NOT_RECORDABLE, SEALING_KEY_MISSING, EXECUTION_CONFLICT,
   *   STORAGE_FAILED, PARTITION_LOCKED, RUNTIME_CLOSED, EXECUTION_DENIED
   */
  start<TIn, TOut>(
    flow: RegisteredFlow<TIn, TOut>,
    input: NoInfer<TIn>,
    options: StartOptions = {},
  ): Promise<ExecutionHandle<TOut>> {
    const { principal, caller = principal } = options;
    const starting = new Starting<TOut>(this.#hostFor(caller));
    try {
      const fresh = options.executionId === undefined;
      const executionId = fresh ? this.#newId() : options.executionId;
      checkId("executionId", executionId);
      checkDuration("INPUT_INVALID", "deadlineMs", options.deadlineMs);
      const registered = this.#registry.require(flow?.definition);
      const request: StartRequest = {
        executionId,
        fresh,
        flow: registered,
        input: this.#inputToWire(executionId, registered, input),
        principal: this.#principalToWire(executionId, principal),
        deadlineMs: options.deadlineMs,
        reply: starting,
      };
      starting.executionId = executionId;
      if (this.#phase.kind === "open" && !this.#authority) this.#partitionFor(executionId).start(request);
      else
        this.#mayStart(request, caller, principal).then(
          (partition) => partition.start(request),
          (error: unknown) => starting.reject(error),
        );
    } catch (error) {
      starting.reject(error);
    }
    return starting.promise;
  }

  async #mayStart(
    { executionId, flow }: StartRequest,
    caller: Principal | undefined,
    principal: Principal | undefined,
  ): Promise<PartitionDoor> {
    const partition = await this.#owner(executionId);
    await this.#authority?.check({
      action: "start",
      executionId,
      workflowId: flow.definition.id,
      principal: caller,
      ...(principal !== caller && { actsFor: principal }),
    });
    return partition;
  }

  #inputToWire(executionId: string, { definition }: RegisteredFlow, input: unknown): Wire {
    const { inputSchema, outputSchema, id } = definition;
    const secrecy = secrecyOf(this.#vault, executionId);
    secrecy.check(outputSchema);
    const parsed = this.#validateInput
      ? parseWith(inputSchema, input, "INPUT_INVALID", "input of flow", id)
      : input;
    return secrecy.wireOf(parsed, inputSchema, this.#options.limits);
  }

  /** Sealed wherever there is a key: nobody who reads the log has to know whom an execution acts for. */
  #principalToWire(executionId: string, principal: Principal | undefined): Wire {
    if (principal !== undefined && !isPrincipal(principal))
      throw new HeddleError(
        "INPUT_INVALID",
        "The principal is text, or an object whose actor and tenant are text where they are given.",
      );
    const { limits } = this.#options;
    const isSealed = principal !== undefined && this.#vault.hasKey;
    return toWire(
      isSealed ? this.#vault.seal(executionId, principal, "internal", limits) : principal,
      limits,
    );
  }

  /**
   * Resolves an open gate; resolves once that is durable.
   *
   * @throws EXECUTION_UNKNOWN, EXECUTION_ENDED, EXECUTION_SET_ASIDE, GATE_NOT_OPEN, GATE_AMBIGUOUS,
   *   GATE_ALREADY_RESOLVED, RESUME_PAYLOAD_INVALID, VALUE_NOT_RECORDABLE, RESUME_UNAUTHENTICATED, EXECUTION_DENIED
   */
  resume(executionId: string, request: ResumeRequest, options: ResumeOptions = {}): Promise<ExecutionHandle> {
    return contained(this.#resume(executionId, request, options));
  }

  async #resume(
    executionId: string,
    request: ResumeRequest,
    { principal, credentials }: ResumeOptions,
  ): Promise<ExecutionHandle> {
    checkId("executionId", executionId);
    checkId("eventType", request?.eventType);
    if (request.requestId !== undefined) checkId("requestId", request.requestId);
    // What is recorded is what was sent, whatever the sender goes on to do with it (C-EFF-04).
    const sent = { ...request, payload: fromWire(toWire(request.payload, this.#options.limits)) };
    const caller = await this.#answerer({ ...sent, executionId, principal, credentials });
    const partition = await this.#permitted("resume", executionId, caller, { eventType: sent.eventType });
    await this.#tell(partition, executionId, (reply) => ({ kind: "resume", request: sent, reply }));
    return new RuntimeHandle(executionId, this.#hostFor(caller));
  }

  /**
   * Decides what became of a step that is in doubt: it may have done its work, and may not be repeated. Resolves once the
   * verdict is durable.
   *
   * @param verdict the outcome somebody found out (parsed by the step's schema), or that it failed, or that it may run again
   * @throws EXECUTION_UNKNOWN, EXECUTION_ENDED, EXECUTION_SET_ASIDE, STEP_NOT_IN_DOUBT, OUTPUT_INVALID, VALUE_NOT_RECORDABLE
   */
  resolveInDoubt(
    executionId: string,
    stepId: string,
    verdict: InDoubtVerdict,
    { principal }: CallerOptions = {},
  ): Promise<void> {
    return contained(this.#resolveInDoubt(executionId, stepId, verdict, principal));
  }

  async #resolveInDoubt(
    executionId: string,
    stepId: string,
    verdict: InDoubtVerdict,
    caller: Principal | undefined,
  ): Promise<void> {
    checkId("executionId", executionId);
    checkId("stepId", stepId);
    const decided = readVerdict(verdict, this.#options.limits);
    const partition = await this.#permitted("resume", executionId, caller, { stepId });
    await this.#tell(partition, executionId, (reply) => ({
      kind: "verdict",
      stepId,
      verdict: decided,
      reply,
    }));
  }

  /**
   * Cancels an execution; resolves once the request is durable. Steps in flight are aborted, and its flow is told once: what it
   * waits for rejects with CANCELLED, and it may clean up in `ctx.shield` before it ends. Repeating it changes nothing.
   *
   * @param reason recorded, and shown to whoever asks; default "cancelled by the host"
   * @throws EXECUTION_UNKNOWN, EXECUTION_ENDED, EXECUTION_SET_ASIDE (unless `force`), INPUT_INVALID, EXECUTION_DENIED
   */
  cancel(executionId: string, reason = "cancelled by the host", options: CancelOptions = {}): Promise<void> {
    return contained(this.#cancel(executionId, reason, options));
  }

  async #cancel(
    executionId: string,
    reason: string,
    { force = false, principal }: CancelOptions,
  ): Promise<void> {
    if (typeof reason !== "string") {
      throw new HeddleError("INPUT_INVALID", `The reason of a cancel is text, not ${typeof reason}.`);
    }
    toWire(reason, this.#options.limits); // not longer than anything else may be
    const partition = await this.#permitted("cancel", executionId, principal);
    await this.#tell(partition, executionId, (reply) => ({
      kind: "cancel",
      reason: reason.toWellFormed(),
      force,
      reply,
    }));
  }

  /** A handle for an execution that exists; it may belong to an earlier process. */
  handle(executionId: string, { principal }: CallerOptions = {}): ExecutionHandle {
    checkId("executionId", executionId);
    return new RuntimeHandle(executionId, this.#hostFor(principal));
  }

  /** The doors of this runtime for one caller: everything asked through them is asked by `principal`. */
  as(principal: Principal): RuntimeView {
    return new RuntimeView(this, principal);
  }

  /** Folds an execution's durable state without running it. */
  loadState(executionId: string, { principal }: CallerOptions = {}): Promise<ExecutionState> {
    return contained(
      this.#permitted("query", executionId, principal).then((partition) => partition.state(executionId)),
    );
  }

  /** Lists executions, newest first; those that the caller may not query are left out. */
  list(filter?: ListFilter, { principal }: CallerOptions = {}): Promise<ExecutionHeader[]> {
    const { eventStore } = this.#options;
    if (!this.#authority) return contained(eventStore.list(filter));
    return contained(listVisible(eventStore, this.#authority, principal, filter));
  }

  /** What is in memory and what waits; undefined when the partitions run in other threads. */
  get load(): PartitionLoad | undefined {
    return this.#host.load;
  }

  watch(executionId: string, awaited: Awaited, caller?: Principal): Promise<ExecutionState> {
    if (this.#phase.kind === "open" && !this.#authority)
      return this.#partitionFor(executionId).watch(executionId, awaited);
    return contained(
      this.#permitted("query", executionId, caller).then((partition) =>
        partition.watch(executionId, awaited),
      ),
    );
  }

  result(executionId: string, caller?: Principal): Promise<unknown> {
    if (this.#phase.kind === "open" && !this.#authority)
      return this.#partitionFor(executionId).result(executionId);
    return contained(
      this.#permitted("query", executionId, caller).then((partition) => partition.result(executionId)),
    );
  }

  /** Closes the log and everything on it. Repeated calls wait for the first. */
  close({ deadlineMs = DEFAULT_CLOSE_DEADLINE_MS }: CloseOptions = {}): Promise<void> {
    if (this.#phase.kind !== "closed") {
      this.#phase = { kind: "closed", closing: contained(this.#closeAll(deadlineMs)) };
    }
    return this.#phase.closing;
  }

  async #closeAll(deadlineMs: number): Promise<void> {
    this.#authority?.close(closedError());
    await this.#host.close(deadlineMs);
    await this.#options.eventStore.close();
  }

  /** The way of whoever has a handle back to here: as the caller that was given it. */
  #hostFor(caller: Principal | undefined): HandleHost {
    if (!this.#authority) return this;
    return {
      watch: (executionId, awaited) => this.watch(executionId, awaited, caller),
      result: (executionId) => this.result(executionId, caller),
      loadState: (executionId) =>
        this.loadState(executionId, caller === undefined ? {} : { principal: caller }),
    };
  }

  async #answerer(request: ResumeAuthnRequest): Promise<Principal | undefined> {
    return this.#authority ? this.#authority.authenticate(request) : request.principal;
  }

  /** The one way to an execution: whoever comes through here was allowed to. */
  async #permitted(
    action: ExecutionAction,
    executionId: string,
    principal: Principal | undefined,
    about: Pick<ExecutionAuthzRequest, "eventType" | "stepId"> = {},
  ): Promise<PartitionDoor> {
    const partition = await this.#owner(executionId);
    if (!this.#authority) return partition;
    const workflowId = await partition.flowOf(executionId);
    await this.#authority.check({ action, executionId, workflowId, principal, ...about });
    return partition;
  }

  async #tell(
    partition: PartitionDoor,
    executionId: string,
    message: (reply: Reply<void>) => Command,
  ): Promise<void> {
    await new Promise<void>((resolve, reject) => partition.send(executionId, message({ resolve, reject })));
  }

  async #owner(executionId: string): Promise<PartitionDoor> {
    checkId("executionId", executionId);
    switch (this.#phase.kind) {
      case "built":
        throw new HeddleError(
          "RUNTIME_NOT_STARTED",
          "The app was built with autostart: false; call app.start() first.",
        );
      case "closed":
        throw closedError();
      default:
        await this.#phase.opened;
        return this.#partitionFor(executionId);
    }
  }

  #partitionFor(executionId: string): PartitionDoor {
    if (this.#phase.kind === "closed") throw closedError();
    return this.#partitions[partitionOf(executionId, this.#partitions.length)]!;
  }
}

/** Pages on until there are as many as were asked for: what is left out must not make a page look like the last one. */
async function listVisible(
  eventStore: EventStore,
  authority: ExecutionAuthority,
  principal: Principal | undefined,
  filter: ListFilter = {},
): Promise<ExecutionHeader[]> {
  const { limit = LISTED_MAX } = filter;
  const found: ExecutionHeader[] = [];
  for (let after = filter.after; ; ) {
    const page = await eventStore.list({ ...filter, limit, ...(after !== undefined && { after }) });
    found.push(...(await authority.visible(page, principal)));
    after = page.at(-1)?.id;
    if (page.length === 0 || page.length < limit || found.length >= limit) return found.slice(0, limit);
  }
}

/** A start on its way: hears from the partition, answers the caller. */
class Starting<TOut> implements Reply<void> {
  executionId = "";
  readonly #host: HandleHost;
  readonly #deferred = new Deferred<ExecutionHandle<TOut>>();

  constructor(host: HandleHost) {
    this.#host = host;
  }

  get promise(): Promise<ExecutionHandle<TOut>> {
    return this.#deferred.promise;
  }

  resolve(): void {
    this.#deferred.resolve(new RuntimeHandle<TOut>(this.executionId, this.#host));
  }

  reject(error: unknown): void {
    this.#deferred.reject(error);
  }
}

function closedError(): HeddleError {
  return new HeddleError("RUNTIME_CLOSED", "The runtime is closed; build the app again to go on.");
}
