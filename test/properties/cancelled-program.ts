// Programs that are called off: small random flows with shields, cleanups, deadlines and effects that may not run twice, the
// moments at which they are cancelled, and somebody who answers, decides and cancels until each has ended.
//
// Times are odd, so that few things come at one instant, where they may come in either order.
// Every shield says when it begins and when it is through. Flows compose with `parallel` alone, which waits for all it began.

import * as fc from "fast-check";
import { type Budget, type EffectMiddleware, Ledger, ring } from "../../src/effects/index.js";
import {
  type ExecutionContext,
  type ExecutionState,
  hasCode,
  isTerminal,
  type RegisteredFlow,
} from "../../src/kernel/index.js";
import { flow, type Process, type ProcessOptions, untilAborted, type World } from "../support/world.js";

export type Node =
  | {
      readonly kind: "step";
      readonly delay: number;
      readonly failures: number;
      readonly deadlineMs: number | undefined;
      readonly timeoutMs: number | undefined;
      readonly idempotent: boolean;
      readonly obeys: boolean;
    }
  | { readonly kind: "sleep"; readonly ms: number }
  | { readonly kind: "gate"; readonly timeout: number | undefined }
  | { readonly kind: "decide"; readonly delay: number }
  | { readonly kind: "note" }
  | { readonly kind: "sequence"; readonly nodes: readonly Node[] }
  | { readonly kind: "parallel"; readonly nodes: readonly Node[]; readonly limit: number }
  | { readonly kind: "shield"; readonly node: Node }
  | { readonly kind: "cleanup"; readonly body: Node; readonly cleanup: Node; readonly goesOn: boolean };

const { node } = fc.letrec<{ node: Node; leaf: Node; branch: Node }>((tie) => ({
  node: fc.oneof({ maxDepth: 3, depthSize: "small" }, tie("leaf"), tie("branch")),
  leaf: fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant("step" as const),
        delay: fc.constantFrom(0, 1.3, 5.7, 23.1, 211.9),
        failures: fc.constantFrom(0, 0, 1, 3),
        deadlineMs: fc.constantFrom(undefined, undefined, 5, 20, 40),
        timeoutMs: fc.constantFrom(undefined, undefined, 4.4, 37.6),
        idempotent: fc.constantFrom(true, true, false),
        obeys: fc.boolean(),
      }),
    },
    { weight: 1, arbitrary: fc.constantFrom(0, 3, 29).map((ms) => ({ kind: "sleep" as const, ms })) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(undefined, 31).map((timeout) => ({ kind: "gate" as const, timeout })),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom(0, 2.2, 17.8).map((delay) => ({ kind: "decide" as const, delay })),
    },
    { weight: 1, arbitrary: fc.constant({ kind: "note" as const }) },
  ),
  branch: fc.oneof(
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant("sequence" as const),
        nodes: fc.array(tie("node"), { maxLength: 4 }),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant("parallel" as const),
        nodes: fc.array(tie("node"), { maxLength: 4 }),
        limit: fc.integer({ min: 1, max: 4 }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("shield" as const), node: tie("node") }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant("cleanup" as const),
        body: tie("node"),
        cleanup: tie("node"),
        goesOn: fc.boolean(),
      }),
    },
  ),
}));

export const program: fc.Arbitrary<Node> = fc
  .array(node, { minLength: 1, maxLength: 4 })
  .map((nodes) => ({ kind: "sequence", nodes }));

/** When it is called off, in milliseconds from its start, and by whom. */
export interface Calls {
  readonly deadlineMs: number | undefined;
  readonly cancelAfter: number | undefined;
  readonly again: boolean;
  readonly forceAfter: number | undefined;
  /** The effect that cancels its own execution as it begins, counted from 1 over all of them. */
  readonly byEffect: number | undefined;
}

export const calls: fc.Arbitrary<Calls> = fc.record({
  deadlineMs: fc.constantFrom(undefined, undefined, 1, 5, 20, 41),
  cancelAfter: fc.constantFrom(undefined, 0, 1, 5, 10, 20, 21, 40),
  again: fc.boolean(),
  forceAfter: fc.constantFrom(undefined, undefined, undefined, 5, 30, 60),
  byEffect: fc.constantFrom(undefined, undefined, 1, 2, 3),
});

/** What stands around its effects. */
export interface Around {
  /** A middleware that takes its time on the way in. */
  readonly heldMs: number | undefined;
  readonly budget: Budget | undefined;
}

const budget = { scope: "flow", meter: "calls" } as const;

export const around: fc.Arbitrary<Around> = fc.record({
  heldMs: fc.constantFrom(undefined, undefined, 0, 6),
  budget: fc.constantFrom<Budget | undefined>(
    undefined,
    undefined,
    { ...budget, limit: 2 },
    { ...budget, limit: 3, onExceeded: "end" },
    { ...budget, limit: 1, perMs: 20, onExceeded: "throttle" },
    { ...budget, scope: "execution", limit: 2, perMs: 15, onExceeded: "throttle" },
  ),
});

/** What all processes of one execution come to, beside its log. */
export class Course {
  readonly calls: Calls;
  /** Effects outside of shields that began when the cancel was durable, or when the deadline had passed. */
  readonly tooLate: string[] = [];
  /** Runs of effects that may not run twice, less those that are known to have failed or that a verdict allowed. */
  readonly unaccounted = new Map<string, number>();
  #isTold = false;
  #deadlineAt = Infinity;
  #isCancelled = false;
  #isForced = false;
  readonly #begun: number;
  #effects = 0;
  readonly #world: World;

  constructor(world: World, calls: Calls) {
    this.#world = world;
    this.calls = calls;
    this.#begun = world.clock.now;
  }

  flowOf(program: Node): RegisteredFlow {
    return flow("program", (ctx) => this.#run(ctx, program, "", false));
  }

  /** What the log says by now. */
  hear(type: string, timestamp: number): void {
    if (type === "CANCEL_REQUESTED") this.#isTold = true;
    if (type === "EXECUTION_STARTED") this.#deadlineAt = timestamp + (this.calls.deadlineMs ?? Infinity);
  }

  /** Of one process. */
  ringOf({ heldMs, budget }: Around): ProcessOptions & { ledger?: Ledger } {
    const holding: EffectMiddleware = async (_ctx, _input, next) => {
      await this.#world.delay(heldMs!);
      return next();
    };
    const now = (): number => this.#world.clock.now;
    const ledger = budget && new Ledger([budget], now);
    const middleware = heldMs === undefined ? [] : [holding];
    return {
      middleware: ring({ middleware, ...(ledger && { budgeting: { ledger, now } }) }),
      ...(ledger && { ledger }),
    };
  }

  /** One process until the execution has ended; undefined when the process died before that. */
  async live(process: Process, flow: RegisteredFlow): Promise<ExecutionState | undefined> {
    const { deadlineMs } = this.calls;
    const died = process.crashed.then(() => undefined);
    const asked = <T>(promise: Promise<T>) => this.#world.until(Promise.race([promise, died]));
    if (process.store.isDead) return undefined;
    await asked(process.runtime.start(flow, null, { executionId: "x", ...(deadlineMs && { deadlineMs }) }));
    for (;;) {
      await this.#world.settle();
      if (process.store.isDead) return undefined;
      const state = await process.runtime.loadState("x");
      if (isTerminal(state.status)) return state;
      const due = this.#due();
      // Callbacks of one instant come in an order that passivation may change, so all of them come first.
      const isQuiet = this.#world.clock.nextDue !== this.#world.clock.now;
      if (due?.at === 0 && isQuiet) await asked(due.call(process));
      else if (!(await this.#answer(process, state, asked))) this.#moveOn(due?.at);
    }
  }

  #due(): { at: number; call: (process: Process) => Promise<unknown> } | undefined {
    const { cancelAfter, forceAfter, again } = this.calls;
    const left = (after: number): number => Math.max(0, this.#begun + after - this.#world.clock.now);
    const cancel = async ({ runtime }: Process): Promise<void> => {
      await refusedOnceEnded(
        Promise.all((again ? ["first", "second"] : ["first"]).map((why) => runtime.cancel("x", why))),
      );
      this.#isCancelled = true;
    };
    const force = async ({ runtime }: Process): Promise<void> => {
      await refusedOnceEnded(runtime.cancel("x", "force", { force: true }));
      this.#isForced = true;
    };
    const waiting = [
      ...(cancelAfter === undefined || this.#isCancelled ? [] : [{ at: left(cancelAfter), call: cancel }]),
      ...(forceAfter === undefined || this.#isForced ? [] : [{ at: left(forceAfter), call: force }]),
    ];
    return waiting.sort((a, b) => a.at - b.at)[0];
  }

  async #answer(
    { runtime }: Process,
    { gates, frames }: ExecutionState,
    asked: (promise: Promise<unknown>) => Promise<unknown>,
  ): Promise<boolean> {
    const gate = Object.values(gates).find(
      ({ kind, status, wakeAt }) => kind === "event" && status === "open" && wakeAt === undefined,
    );
    if (gate) {
      const { on, gateId } = gate;
      await asked(runtime.resume("x", { eventType: on, gateId, payload: on, requestId: gateId }));
      return true;
    }
    const doubt = Object.values(frames).find(({ status }) => status === "inDoubt");
    if (!doubt) return false;
    const { stepId } = doubt;
    const verdicts = [{ outcome: "found" }, { fail: new Error("nothing") }, { retry: true }] as const;
    const verdict = verdicts[(stepId.length + doubt.attempts) % 3]!;
    this.unaccounted.delete(stepId);
    await asked(runtime.resolveInDoubt("x", stepId, verdict));
    return true;
  }

  #moveOn(limit: number | undefined): void {
    const { clock } = this.#world;
    const next = clock.nextDue;
    if (limit !== undefined && (next === undefined || next > clock.now + limit)) clock.jump(limit);
    else if (!clock.step()) throw new Error("The world stands still.");
  }

  async #run(ctx: ExecutionContext, node: Node, path: string, isShielded: boolean): Promise<unknown> {
    switch (node.kind) {
      case "step":
        return unlessCalledOff(ctx.run(this.#step(node, path, isShielded), path));
      case "sleep":
        return ctx.sleep(node.ms);
      case "gate":
        return unlessCalledOff(
          ctx.suspend({ on: `gate${path}`, ...(node.timeout !== undefined && { timeout: node.timeout }) }),
        );
      case "decide":
        return ctx.decide(`decision${path}`, async () => {
          await this.#world.delay(node.delay);
          return path;
        });
      case "note":
        return ctx.emit("Noted", [path, ctx.now(), ctx.random()]);
      case "sequence": {
        for (const [i, child] of node.nodes.entries())
          await this.#run(ctx, child, `${path}.${i}`, isShielded);
        return path;
      }
      case "parallel":
        return ctx.parallel(
          node.nodes.map((child, i) => () => this.#run(ctx, child, `${path}.${i}`, isShielded)),
          { limit: node.limit },
        );
      case "shield":
        return this.#shield(ctx, node.node, `${path}.0`);
      case "cleanup":
        try {
          return await this.#run(ctx, node.body, `${path}.0`, isShielded);
        } catch (error) {
          await this.#shield(ctx, node.cleanup, `${path}.1`);
          if (!node.goesOn) throw error;
          return path;
        }
    }
  }

  #shield(ctx: ExecutionContext, node: Node, path: string): Promise<unknown> {
    return ctx.shield(async (shielded) => {
      shielded.emit("ShieldBegun", path);
      const result = await this.#run(shielded, node, path, true);
      shielded.emit("ShieldThrough", path);
      return result;
    });
  }

  #step(node: Extract<Node, { kind: "step" }>, path: string, isShielded: boolean) {
    const { delay, failures, idempotent, obeys, deadlineMs, timeoutMs } = node;
    const id = `step${path}`;
    return this.#world.step<unknown, unknown>(
      id,
      async (_input, { attempt, signal }) => {
        const isPast = this.#isTold || this.#world.clock.now > this.#deadlineAt;
        if (isPast && !isShielded) this.tooLate.push(id);
        if (!idempotent) this.unaccounted.set(id, (this.unaccounted.get(id) ?? 0) + 1);
        const { process } = this.#world;
        if (++this.#effects === this.calls.byEffect) process!.runtime.cancel("x", "itself").catch(() => {});
        await Promise.race([this.#world.delay(delay), ...(obeys ? [untilAborted(signal)] : [])]);
        if (attempt > failures) return path;
        this.unaccounted.delete(id);
        throw new Error(`attempt ${attempt} of ${path}`);
      },
      {
        idempotent,
        retry: { maxAttempts: failures + 1, baseDelayMs: 10, factor: 1 },
        ...(deadlineMs !== undefined && { deadlineMs }),
        ...(timeoutMs !== undefined && { timeoutMs }),
      },
    );
  }
}

/** A cancellation goes on outwards; any other failure is a value. */
async function unlessCalledOff(promise: Promise<unknown>): Promise<unknown> {
  try {
    return await promise;
  } catch (error) {
    if (hasCode(error, "CANCELLED")) throw error;
    return (error as Error).message;
  }
}

async function refusedOnceEnded(promise: Promise<unknown>): Promise<void> {
  await promise.catch((error: unknown) => {
    if (!hasCode(error, "EXECUTION_ENDED")) throw error;
  });
}
