// World: an app whose effects run in a pool, as a host has it, closed after the test. Threads run the built package, so the
// host does too.

import { join } from "node:path";
import {
  defineConfig,
  type EventEnvelope,
  type HeddleApp,
  type HeddleConfig,
  lmdbStorage,
  type RegisteredFlow,
} from "heddle";
import { onTestFinished } from "vitest";
import { marksIn, temporaryDirectory } from "../partitions/world.js";
import * as flowModule from "./programs/flows.mjs";

export const FLOWS = new URL("./programs/flows.mjs", import.meta.url);
export const EFFECTS = new URL("./programs/effects.mjs", import.meta.url);

const untyped: Readonly<Record<string, unknown>> = flowModule;
/** A flow of the module the threads load. */
export function flowOf(name: string): RegisteredFlow {
  return untyped[name] as RegisteredFlow;
}

type PoolOptions = NonNullable<NonNullable<HeddleConfig["workers"]>["effects"]>;

interface Options extends Omit<HeddleConfig, "storage" | "workers"> {
  readonly dir?: string;
  readonly partitions?: number;
  /** Partition threads. Default 0: the host's thread. */
  readonly actors?: number;
  readonly pool?: Partial<PoolOptions>;
}

/** One partition, or one a thread. Commits are not flushed: nobody cuts the power. */
export function openApp({
  dir = temporaryDirectory(),
  actors = 0,
  partitions = Math.max(1, actors),
  pool,
  ...options
}: Options = {}): HeddleApp {
  const app = defineConfig({
    storage: lmdbStorage({ dir, partitions, sync: "commit" }),
    flowModules: [untyped],
    workers: { actors, app: FLOWS, effects: { module: EFFECTS, maxThreads: Math.max(1, actors), ...pool } },
    ...options,
  });
  onTestFinished(() => app.close({ deadlineMs: 0 }));
  return app;
}

/** One line that an effect left: `what` it did, in which attempt of which step. */
export interface Mark {
  readonly what: string;
  readonly executionId: string;
  readonly stepId: string;
  readonly attempt: number;
  readonly key: string;
}

/** A file that effects leave lines in, and what it says. */
export function outsideCount(): { readonly file: string; readonly marks: () => Mark[] } {
  const file = join(temporaryDirectory(), "marks");
  return {
    file,
    marks: () =>
      marksIn(file).map((line) => {
        const [what = "", executionId = "", stepId = "", attempt = "", key = ""] = line.split(" ");
        return { what, executionId, stepId, attempt: Number(attempt), key };
      }),
  };
}

/** How often each of these is there. */
export function tally(names: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

export async function eventsOf(app: HeddleApp, executionId: string): Promise<readonly EventEnvelope[]> {
  return app.stores.eventStore.read(executionId);
}

export async function typesOf(app: HeddleApp, executionId: string): Promise<string[]> {
  return (await eventsOf(app, executionId)).map(({ type }) => type);
}
