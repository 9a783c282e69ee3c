// World: what most tests of a running app need: a directory, an app that is closed afterwards, flows in one line, and a
// wait that says what it waited for.

import { onTestFinished } from "vitest";
import { z } from "zod";
import {
  defineConfig,
  defineFlow,
  type ExecutionContext,
  type FlowOptions,
  flow$,
  handler$,
  type LoomApp,
  type LoomConfig,
  lmdbStorage,
  type RegisteredFlow,
  type StepDefinition,
  type StepHandlerContext,
  type StepOptions,
  step$,
} from "../../src/index.js";

export { type Latch, latch } from "../support/latch.js";
export { temporaryDirectory } from "../support/temporary-directory.js";
export { within } from "../support/within.js";

export type AppOptions = Omit<LoomConfig, "storage"> & { dir?: string; storage?: LoomConfig["storage"] };

/** An app on a directory (in memory without one), closed after the test. Commits are not flushed: nobody cuts the power. */
export function openApp({ dir, storage, ...options }: AppOptions): LoomApp {
  const app = defineConfig({
    storage: storage ?? (dir === undefined ? { kind: "memory" } : lmdbStorage({ dir, sync: "commit" })),
    ...options,
  });
  onTestFinished(() => app.close({ deadlineMs: 0 }));
  return app;
}

const anything = z.unknown();

export function step<TOut>(
  id: string,
  run: (input: unknown, ctx: StepHandlerContext) => TOut | Promise<TOut>,
  options: Partial<StepOptions<unknown, TOut>> = {},
): StepDefinition<unknown, TOut> {
  return step$({
    id,
    inputSchema: anything,
    outputSchema: z.custom<TOut>(() => true),
    handler: handler$(run),
    ...options,
  });
}

export function flow<TOut>(
  id: string,
  run: (ctx: ExecutionContext, input: unknown) => Promise<TOut>,
  options: Partial<FlowOptions<unknown, TOut>> = {},
): RegisteredFlow<unknown, TOut> {
  return defineFlow(
    flow$({
      id,
      version: "1",
      inputSchema: anything,
      outputSchema: z.custom<TOut>(() => true),
      ...options,
    }),
    run,
  );
}

/** What the log of an execution says, by kind. */
export async function typesOf({ stores }: LoomApp, executionId: string): Promise<string[]> {
  return (await stores.eventStore.read(executionId)).map(({ type }) => type);
}

/** The code of the error a promise rejects with, or "resolved". */
export function outcomeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => "resolved",
    (error: unknown) => String((error as { code?: unknown }).code ?? error),
  );
}

/** Unhandled rejections of this process during the test. vitest fails a run for them, but not the test at fault. */
export function unhandledRejections(): readonly unknown[] {
  const seen: unknown[] = [];
  const note = (reason: unknown): void => void seen.push(reason);
  const others = process.listeners("unhandledRejection");
  process.removeAllListeners("unhandledRejection");
  process.on("unhandledRejection", note);
  onTestFinished(() => {
    process.off("unhandledRejection", note);
    for (const other of others) process.on("unhandledRejection", other);
  });
  return seen;
}

/** Lets everything that is due run: promises, and a few turns of the event loop. */
export async function turns(count = 5): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
}
