// Calls: effects on threads, by heddle's pool and by one `pool.run` of plain Piscina a call. Both are handed the same: what
// an effect needs to know of the call it serves.

import { Piscina } from "piscina";
import { orderOf, type Receipt } from "../harness/side.js";
import type { Work } from "./pool-effects.js";

export interface CallSide {
  readonly name: string;
  open(): Promise<Calls>;
}

export interface Calls {
  /** The result of call `n`. */
  call(work: Work, n: number): Promise<Receipt>;
  close(): Promise<void>;
}

/** The pool is no door of the package: it is taken from where the package is built, threads and all. */
interface PoolModule {
  readonly EffectPool: {
    open(options: {
      readonly module: URL;
      readonly minThreads: number;
      readonly maxThreads: number;
    }): Promise<{ call(call: ReturnType<typeof callOf>): Promise<unknown>; close(): Promise<void> }>;
  };
}

const MODULE = new URL("./pool-effects.js", import.meta.url);
const POOL = new URL("./workers/pool/index.js", import.meta.resolve("heddle"));

export function heddlePool(threads: number, name = "heddle"): CallSide {
  return {
    name,
    async open() {
      const { EffectPool } = (await import(POOL.href)) as PoolModule;
      const pool = await EffectPool.open({ module: MODULE, minThreads: threads, maxThreads: threads });
      return {
        call: (work, n) => pool.call(callOf(work, n)) as Promise<Receipt>,
        close: () => pool.close(),
      };
    },
  };
}

/** With Piscina's own defaults, as far as the number of threads allows. */
export function plainPool(threads: number): CallSide {
  return {
    name: "pool.run",
    async open() {
      const pool = new Piscina<ReturnType<typeof callOf>, Receipt>({
        filename: MODULE.href,
        minThreads: threads,
        maxThreads: threads,
      });
      return {
        call: (work, n) => pool.run(callOf(work, n)),
        close: () => pool.destroy(),
      };
    },
  };
}

function callOf(work: Work, n: number) {
  const executionId = `execution-${n % 100}`;
  const stepId = `step#${n}`;
  return {
    effectId: work,
    input: orderOf(n),
    executionId,
    workflowId: "bench",
    stepId,
    attempt: 1,
    toolId: work,
    taskKind: "tool" as const,
    idempotencyKey: `${executionId}/${stepId}`,
  };
}
