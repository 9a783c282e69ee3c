// World: an app with partition threads, as a host has it, closed after the test. Threads run the built package, so the host
// does too.

import { readFileSync } from "node:fs";
import { defineConfig, type HeddleApp, type HeddleConfig, lmdbStorage, type RegisteredFlow } from "heddle";
import { onTestFinished } from "vitest";
import { temporaryDirectory } from "../../support/temporary-directory.js";
import * as flowModule from "./programs/flows.mjs";

export { until } from "../../support/until.js";
export { within } from "../../support/within.js";
export { temporaryDirectory };

export const FLOWS = new URL("./programs/flows.mjs", import.meta.url);

const untyped: Readonly<Record<string, unknown>> = flowModule;
/** A flow of the module the threads load. */
export function flowOf(name: string): RegisteredFlow {
  return untyped[name] as RegisteredFlow;
}

type Options = Omit<HeddleConfig, "storage" | "workers"> & {
  readonly dir?: string;
  readonly partitions?: number;
  readonly workers?: HeddleConfig["workers"];
  readonly storage?: HeddleConfig["storage"];
};

/** Two threads over four partitions, unless told otherwise. Commits are not flushed: nobody cuts the power. */
export function openApp({
  dir = temporaryDirectory(),
  partitions,
  workers,
  ...options
}: Options = {}): HeddleApp {
  const app = defineConfig({
    storage: lmdbStorage({ dir, partitions: partitions ?? 4, sync: "commit" }),
    flowModules: [untyped],
    workers: { actors: 2, app: FLOWS, ...workers },
    ...options,
  });
  onTestFinished(() => app.close({ deadlineMs: 0 }));
  return app;
}

/** Whole lines of a file that steps leave marks in; none when it is not there. */
export function marksIn(file: string): string[] {
  try {
    return readFileSync(file, "utf8").split("\n").filter(Boolean);
  } catch {
    return [];
  }
}

/** What a promise rejects with, or the failure of the test. */
export async function errorOf(promise: Promise<unknown>): Promise<Error & { readonly code?: string }> {
  return promise.then(
    (value) => {
      throw new Error(`It did not reject: ${JSON.stringify(value)}`);
    },
    (error: unknown) => error as Error & { readonly code?: string },
  );
}
