// FlowContext: the object a flow is given. A thin face of its run: parallel is the only thing composed here, and a shield is
// another face of the same run.

import type {
  DecideOptions,
  DecideScope,
  ExecutionContext,
  ParallelBranch,
  ParallelOptions,
  ParallelResults,
  SurfaceEmitter,
  SuspendOptions,
} from "./context.js";
import { contained } from "./deferred.js";
import { HeddleError } from "./errors.js";
import type { FlowRun } from "./flow-run.js";
import { checkId } from "./ids.js";
import type { ExecutableTask, StepDefinition } from "./task.js";

export class FlowContext implements ExecutionContext {
  readonly #run: FlowRun;
  readonly #shielded: boolean;
  #decide: ExecutionContext["decide"] | undefined;
  #ui: SurfaceEmitter | undefined;

  constructor(run: FlowRun, shielded = false) {
    this.#run = run;
    this.#shielded = shielded;
  }

  get executionId(): string {
    return this.#run.executionId;
  }

  get workflowId(): string {
    return this.#run.flow.definition.id;
  }

  execute<TIn, TOut>(task: ExecutableTask<TIn, TOut>, input: NoInfer<TIn>): Promise<TOut> {
    return this.#run.execute(task, input, this.#shielded) as Promise<TOut>;
  }

  run<TIn, TOut>(step: StepDefinition<TIn, TOut>, input: NoInfer<TIn>): Promise<TOut> {
    return this.#run.execute(step, input, this.#shielded) as Promise<TOut>;
  }

  // Made when asked for: `{ decide: ctx.decide }` is how collaborators get it, and most flows never do.
  get decide(): ExecutionContext["decide"] {
    this.#decide ??= <T>(
      id: string,
      decider: (scope: DecideScope) => T | Promise<T>,
      options?: DecideOptions,
    ) => this.#run.decide(id, decider, this.#shielded, options) as Promise<T>;
    return this.#decide;
  }

  parallel<const B extends readonly ParallelBranch[]>(
    branches: B,
    options: ParallelOptions = {},
  ): Promise<ParallelResults<B>> {
    const results = this.#branches(branches, options);
    results.catch(ignore); // a flow may start branches, do something else, and await them later
    return results;
  }

  async #branches<const B extends readonly ParallelBranch[]>(
    branches: B,
    options: ParallelOptions,
  ): Promise<ParallelResults<B>> {
    const { limit = branches.length } = options;
    if (!(limit >= 1) && branches.length > 0) {
      throw new HeddleError("INPUT_INVALID", `ctx.parallel: limit must be at least 1, not ${limit}.`);
    }
    const results: unknown[] = branches.map(() => undefined);
    let next = 0;
    let failure: { readonly error: unknown } | undefined;
    const lane = async (): Promise<void> => {
      while (next < branches.length && !failure) {
        const index = next++;
        const branch = branches[index]!;
        try {
          results[index] = await (typeof branch === "function"
            ? branch()
            : this.#run.execute(branch[0], branch[1], this.#shielded));
        } catch (error) {
          failure ??= { error };
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(limit, branches.length) }, lane));
    if (failure) throw failure.error;
    return results as ParallelResults<B>;
  }

  suspend<T = never>(options: SuspendOptions): Promise<T> {
    return this.#run.suspend(options, this.#shielded) as Promise<T>;
  }

  sleep(durationMs: number): Promise<void> {
    return this.#run.sleep(durationMs, this.#shielded) as Promise<void>;
  }

  shield<T>(section: (ctx: ExecutionContext) => Promise<T>): Promise<T> {
    return contained(this.#inside(section));
  }

  async #inside<T>(section: (ctx: ExecutionContext) => Promise<T>): Promise<T> {
    return section(this.#shielded ? this : new FlowContext(this.#run, true));
  }

  emit(eventType: string, payload: unknown): void {
    this.#run.emit(eventType, payload);
  }

  stream(eventType: string, delta: string, done = false): void {
    this.#run.stream(eventType, delta, done);
  }

  get ui(): SurfaceEmitter {
    this.#ui ??= surfaceEmitter(this.#run, undefined);
    return this.#ui;
  }

  now(): number {
    return this.#run.now();
  }

  random(): number {
    return this.#run.random();
  }

  uuid(): string {
    return this.#run.uuid();
  }
}

const ignore = (): void => {};

function surfaceEmitter(run: FlowRun, surfaceId: string | undefined): SurfaceEmitter {
  return {
    set: (key, value) => run.patch("set", key, value, surfaceId),
    merge: (key, value) => run.patch("merge", key, value, surfaceId),
    append: (key, value) => run.patch("append", key, value, surfaceId),
    on: (id) => {
      checkId("surface id", id);
      return surfaceEmitter(run, id);
    },
  };
}
