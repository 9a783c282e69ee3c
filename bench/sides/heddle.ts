// Heddle: the runtime, used as its users use it.

import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  defineConfig,
  type HeddleApp,
  type HeddleConfig,
  lmdbStorage,
  type Principal,
  type RegisteredFlow,
} from "heddle";
import {
  type Order,
  orderOf,
  type ParkedLog,
  type Place,
  type Receipt,
  type Side,
  type Sync,
} from "../harness/side.js";
import { chainFlow, checked, GATE, gatedFlow, type Schemas } from "./flows.js";

export interface HeddleOptions {
  readonly steps: number;
  readonly sync: Sync;
  /** What the tables call it. Default "heddle". */
  readonly name?: string;
  readonly schemas?: Schemas;
  /** What is run in place of a chain of steps: as many of them, and the same input and output. */
  readonly flow?: RegisteredFlow<Order, Receipt>;
  /** Ids of the caller's own. Without it heddle makes them. */
  readonly idOf?: (n: number) => string;
  /** What stands around every effect, and for whom executions are started. Default: nothing, nobody. */
  readonly ring?: Ring;
}

export interface Ring extends Pick<HeddleConfig, "security" | "execution"> {
  readonly principal: Principal;
}

/** Executions of so many steps, one after the other. */
export function heddle({
  steps,
  sync,
  name = "heddle",
  schemas = checked,
  flow = chainFlow(steps, schemas),
  idOf,
  ring,
}: HeddleOptions): Side {
  const optionsOf = (n: number) =>
    (idOf || ring) && { ...(idOf && { executionId: idOf(n) }), ...(ring && { principal: ring.principal }) };
  return {
    name,
    async open(directory) {
      const app = await openApp(
        directory,
        sync,
        flow,
        ring && { security: ring.security, execution: ring.execution },
      );
      const ids: string[] = [];
      return {
        place: placeOf(directory),
        async run(n) {
          const handle = await app.runtime.start(flow, orderOf(n), optionsOf(n));
          ids[n] = handle.executionId;
          return handle.result();
        },
        recorded: (n) => outputOf(app, ids[n] ?? ""),
        close: () => app.close(),
      };
    },
  };
}

export interface ParkedOptions extends Pick<HeddleOptions, "steps" | "sync"> {
  /** Default: no snapshots. */
  readonly snapshotEvery?: number;
}

/** `resume` answers once the gate's event is durable; the end of the flow is in the same commit. */
export async function openParkedHeddle(
  directory: string,
  { steps, sync, snapshotEvery }: ParkedOptions,
): Promise<ParkedLog> {
  const flow = gatedFlow(steps);
  const app = await openApp(directory, sync, flow, { durability: { snapshotEvery } });
  const idOf = (n: number): string => `parked-${n}`;
  return {
    place: placeOf(directory),
    async park(n) {
      const handle = await app.runtime.start(flow, orderOf(n), { executionId: idOf(n) });
      await handle.waitForSuspend();
      // Nobody waits for a snapshot, except who wants to measure it.
      const { snapshotStore } = app.stores;
      while (snapshotEvery !== undefined && !(await snapshotStore.load(idOf(n)))) await nextTurn();
    },
    state: async (n) => (await app.runtime.loadState(idOf(n))).sequence,
    async resume(n) {
      await app.runtime.resume(idOf(n), { eventType: GATE, payload: { approved: true } });
    },
    events: async (n) => (await app.stores.eventStore.read(idOf(n))).length,
    recorded: (n) => outputOf(app, idOf(n)),
    close: () => app.close(),
  };
}

async function openApp(
  directory: string,
  sync: Sync,
  flow: RegisteredFlow<Order, Receipt>,
  parts: Pick<HeddleConfig, "security" | "execution" | "durability"> = {},
): Promise<HeddleApp> {
  const app = defineConfig({
    storage: lmdbStorage({ dir: directory, sync }),
    flows: [flow],
    ...parts,
  });
  await app.start();
  return app;
}

async function outputOf(app: HeddleApp, executionId: string): Promise<unknown> {
  return (await app.runtime.loadState(executionId)).variables["_output"];
}

export function placeOf(directory: string, partition = 0): Place {
  const path = join(directory, `p${String(partition).padStart(3, "0")}`);
  return { path, records: "log", headers: "header" };
}
