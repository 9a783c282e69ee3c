// Executions that stay: at a gate, in memory or out of it, or in the middle of a step. By heddle, and as little as the raw baseline
// keeps of one that runs.

import { defineConfig, defineFlow, flow$, handler$, lmdbStorage, step$ } from "heddle";
import { type Order, orderOf, type Receipt, type Sync } from "../harness/side.js";
import { checked, gatedFlow } from "./flows.js";
import { type RawExecution, RawLog } from "./raw-log.js";

/** Keeps what is started until it is closed. */
export interface Holder {
  readonly name: string;
  open(directory: string, sync: Sync): Promise<Held>;
}

export interface Held {
  /** Starts executions `from` to `to` and resolves when each stands where it is to stay. Nothing of them is kept here. */
  hold(from: number, to: number): Promise<void>;
  close(): Promise<void>;
}

const heldId = (n: number): string => `held-${n}`;

/** After a step, at a gate. `resident`: how many of them may stay in memory. */
export function atGate(name: string, resident: number): Holder {
  const flow = gatedFlow(1);
  return {
    name,
    async open(directory, sync) {
      const app = defineConfig({
        storage: lmdbStorage({ dir: directory, sync }),
        flows: [flow],
        execution: { maxResident: resident },
      });
      await app.start();
      return {
        hold: (from, to) =>
          inParts(from, to, async (n) => {
            const handle = await app.runtime.start(flow, orderOf(n), { executionId: heldId(n) });
            await handle.waitForSuspend();
          }),
        close: () => app.close(),
      };
    },
  };
}

/** In its second step. */
export const inStep: Holder = {
  name: "in a step",
  async open(directory, sync) {
    let begun = 0;
    let tell = (): void => {};
    const log = await openInterrupted(directory, sync, () => {
      begun++;
      tell();
      return new Promise<never>(() => {});
    });
    return {
      async hold(from, to) {
        const expected = begun + to - from;
        const all = new Promise<void>((resolve) => {
          tell = () => begun === expected && resolve();
        });
        await inParts(from, to, (n) => log.start(n));
        await all;
      },
      close: () => log.close({ deadlineMs: 0 }),
    };
  },
};

/** Opens a log whose process ended with executions `inStep`; their second steps come to an end this time. */
export function openToEnd(directory: string, sync: Sync): Promise<Interrupted> {
  return openInterrupted(directory, sync, async ({ n }) => ({ ok: true, n }));
}

export interface Interrupted {
  start(n: number): Promise<unknown>;
  /** The output of execution `n`, once there is one. */
  result(n: number): Promise<unknown>;
  close(options?: { readonly deadlineMs: number }): Promise<void>;
}

async function openInterrupted(
  directory: string,
  sync: Sync,
  second: (order: Order) => Promise<Receipt>,
): Promise<Interrupted> {
  const schemas = { inputSchema: checked.order, outputSchema: checked.receipt };
  const steps = [
    step$({ id: "first", ...schemas, handler: handler$(async ({ n }) => ({ ok: true, n })) }),
    step$({ id: "second", ...schemas, handler: handler$(second) }),
  ] as const;
  const flow = defineFlow(flow$({ id: "interrupted", version: "1", ...schemas }), async (ctx, order) => {
    await ctx.run(steps[0], order);
    return ctx.run(steps[1], order);
  });
  const app = defineConfig({ storage: lmdbStorage({ dir: directory, sync }), flows: [flow] });
  await app.start();
  return {
    start: (n) => app.runtime.start(flow, orderOf(n), { executionId: heldId(n) }),
    result: (n) => app.runtime.handle(heldId(n)).result(),
    close: (options) => app.close(options),
  };
}

/** As the baseline has it once its step is requested. */
export const inRawStep: Holder = {
  name: "limit",
  async open(directory, sync) {
    const log = new RawLog(directory, sync);
    const running: RawExecution[] = [];
    return {
      hold: (from, to) =>
        inParts(from, to, async (n) => {
          const execution = log.create(n);
          running.push(execution);
          log.append(execution, { type: "EXECUTION_STARTED", ts: Date.now(), input: orderOf(n) });
          log.append(execution, { type: "STEP_STARTED", ts: Date.now(), stepId: "s0", input: orderOf(n) });
          await log.durable(execution);
        }),
      close: () => log.close(),
    };
  },
};

/** A thousand at a time. */
async function inParts(from: number, to: number, start: (n: number) => Promise<unknown>): Promise<void> {
  for (let part = from; part < to; part += 1_000) {
    await Promise.all(Array.from({ length: Math.min(1_000, to - part) }, (_, n) => start(part + n)));
  }
}
