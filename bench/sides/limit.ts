// Limit: the raw baseline. It writes the events that heddle's flows write, in as many records and commits, and does
// nothing else: no schemas, no replay, no ids to look up, no effects to dispatch, no subscribers.

import {
  type OpenLog,
  orderOf,
  type ParkedLog,
  type Receipt,
  receiptOf,
  type Side,
  type Sync,
} from "../harness/side.js";
import { type RawExecution, RawLog } from "./raw-log.js";

export interface LimitOptions {
  readonly steps: number;
  readonly sync: Sync;
  /** What each step gives. Default: a receipt. */
  readonly result?: unknown;
}

/** Executions of so many steps, one after the other. */
export function limit({ steps, sync, result }: LimitOptions): Side {
  return {
    name: "limit",
    async open(directory) {
      const log = new RawLog(directory, sync);
      return {
        ...openLogOf(log),
        async run(n) {
          const { execution, receipt } = await runSteps(log, n, steps, result);
          execution.status = "completed";
          log.append(execution, { type: "EXECUTION_COMPLETED", ts: Date.now(), output: receipt });
          await log.durable(execution);
          return receipt;
        },
      };
    },
  };
}

/** To resume is to read what is there of an execution, and to write its end. */
export function openParkedLimit(directory: string, { steps, sync }: LimitOptions): ParkedLog {
  const log = new RawLog(directory, sync);
  return {
    ...openLogOf(log),
    async park(n) {
      const { execution } = await runSteps(log, n, steps);
      execution.status = "suspended";
      log.append(execution, { type: "EXECUTION_SUSPENDED", ts: Date.now(), gateId: "g0", on: "Go" });
      await log.durable(execution);
    },
    async resume(n) {
      const execution = log.find(n);
      const output = log.read(n).findLast(({ type }) => type === "STEP_COMPLETED")?.["output"];
      execution.status = "completed";
      log.append(execution, { type: "Go", ts: Date.now(), payload: { approved: true } });
      log.append(execution, { type: "EXECUTION_RESUMED", ts: Date.now(), gateId: "g0" });
      log.append(execution, { type: "EXECUTION_COMPLETED", ts: Date.now(), output });
      await log.durable(execution);
    },
    state: async (n) => log.read(n).length - 1,
    events: async (n) => log.read(n).length,
  };
}

async function runSteps(
  log: RawLog,
  n: number,
  steps: number,
  result?: unknown,
): Promise<{ execution: RawExecution; receipt: Receipt }> {
  const execution = log.create(n);
  const order = orderOf(n);
  let receipt = receiptOf(n);
  log.append(execution, { type: "EXECUTION_STARTED", ts: Date.now(), input: order });
  for (let i = 0; i < steps; i++) {
    log.append(execution, { type: "STEP_STARTED", ts: Date.now(), stepId: `s${i}`, input: order });
    await log.durable(execution); // A step begins once its request is durable.
    receipt = { ok: true, n: order.n };
    log.append(execution, {
      type: "STEP_COMPLETED",
      ts: Date.now(),
      stepId: `s${i}`,
      output: result ?? receipt,
    });
  }
  return { execution, receipt };
}

function openLogOf(log: RawLog): OpenLog {
  return {
    place: log.place,
    recorded: async (n) => log.read(n).at(-1)?.["output"],
    close: () => log.close(),
  };
}
