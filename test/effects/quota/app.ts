// An app as a host has it, over the module in programs: in this thread, with a pool, or with partition threads.

import { defineConfig, type HeddleApp, type HeddleConfig, lmdbStorage, type RegisteredFlow } from "heddle";
import { onTestFinished } from "vitest";
import { temporaryDirectory } from "../../workers/partitions/world.js";
import * as module from "./programs/app.mjs";

const APP = new URL("./programs/app.mjs", import.meta.url);
const FLOWS = new URL("./programs/flows.mjs", import.meta.url);
const EFFECTS = new URL("./programs/effects.mjs", import.meta.url);
const exported: Readonly<Record<string, unknown>> = module;

export const inTurn = exported["inTurn"] as RegisteredFlow;
export const atOnce = exported["atOnce"] as RegisteredFlow;

export const PLACES = ["inline", "pool", "partition threads", "partition threads and pools"] as const;
export type Place = (typeof PLACES)[number];

type Envelope = NonNullable<NonNullable<HeddleConfig["execution"]>["envelope"]>;

export function openApp(place: Place, budgets: Envelope["budgets"], dir = temporaryDirectory()): HeddleApp {
  const isThreaded = place.startsWith("partition threads");
  const isPooled = place.endsWith("pool") || place.endsWith("pools");
  const registerEffects = exported["registerEffects"] as NonNullable<
    HeddleConfig["execution"]
  >["registerEffects"];
  const app = defineConfig({
    storage: lmdbStorage({ dir, partitions: 4, sync: "commit" }),
    flowModules: [exported],
    execution: { envelope: { budgets }, ...(place === "inline" && { registerEffects }) },
    workers: {
      ...(isThreaded && { actors: 2, app: isPooled ? FLOWS : APP }),
      ...(isPooled && { effects: { module: EFFECTS, maxThreads: isThreaded ? 2 : 1 } }),
    },
  });
  onTestFinished(() => app.close({ deadlineMs: 0 }));
  return app;
}
