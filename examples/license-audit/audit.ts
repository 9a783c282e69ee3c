// Audit: opens the log and brings the execution of every package to its end.
//
// Nothing here deals with restarts. What the last process left unfinished heddle takes up again by itself when the log
// is opened, and starting an execution that exists attaches to it. A first run and a run after a kill are the same code.

import {
  defineConfig,
  type ExecutionConfig,
  type ExecutionHandle,
  type ExecutionHeader,
  type ExecutionState,
  type HeddleApp,
  lmdbStorage,
} from "heddle";
import type { Counter } from "../shared/counter.js";
import type { Approver } from "./approval.js";
import type { AuditData } from "./data.js";
import { effectsOn } from "./effects.js";
import { auditPackage } from "./flow.js";
import { Verdict } from "./policy.js";
import { executionIdOf, type Package } from "./scan.js";
import type { Screen } from "./screen.js";
import { threadsFor } from "./threads.js";

export interface AuditOptions {
  readonly packages: readonly Package[];
  readonly data: AuditData;
  readonly counter: Counter;
  readonly approver: Approver;
  readonly screen: Screen;
  /** Threads for executions and effects. Undefined: everything runs in this thread. */
  readonly threads: number | undefined;
  /** Ends the audit early; the log is closed in good order. */
  readonly signal: AbortSignal;
}

export type Ending =
  | {
      readonly kind: "finished";
      readonly ended: readonly ExecutionHeader[];
      readonly failures: readonly Failure[];
    }
  /** Somebody pressed Ctrl-C, or wants to decide later. */
  | { readonly kind: "stopped" };

export interface Failure {
  readonly id: string;
  readonly reason: string;
}

/** Packages at work at the same time: enough to keep the disk busy, few enough to keep few files open. */
const AT_ONCE = 16;

export async function audit(options: AuditOptions): Promise<Ending> {
  const { data, counter, signal, screen, threads } = options;
  const app = defineConfig({
    storage: lmdbStorage({ dir: data.log }),
    flows: [auditPackage],
    ...(threads === undefined
      ? { execution: inThisThread(options) }
      : { workers: threadsFor(data, counter.killAtLine, threads) }),
    observability: { onDurableEvent: counter.onDurableEvent, onWarn: (message) => screen.say(message) },
    autostart: false,
  });
  const onAbort = (): void => void app.close();
  signal.addEventListener("abort", onAbort);
  try {
    signal.throwIfAborted();
    await counter.catchUp(app.stores.eventStore);
    const known = await app.runtime.list({ limit: Infinity }); // before anything goes on
    await app.start();
    screen.beginWork(options.packages.length, known);
    return await runAll(app, options);
  } catch (error) {
    if (signal.aborted) return { kind: "stopped" }; // closing has ended whatever we were waiting for
    throw error;
  } finally {
    signal.removeEventListener("abort", onAbort);
    await app.close();
  }
}

function inThisThread({ data, counter }: AuditOptions): ExecutionConfig {
  return {
    registerEffects: (effects) => {
      for (const [id, effect] of Object.entries(effectsOn(data.rows))) effects.register(id, effect);
    },
    effectMiddleware: [counter.middleware],
  };
}

async function runAll(app: HeddleApp, { packages, approver, screen }: AuditOptions): Promise<Ending> {
  const failures: Failure[] = [];
  const suspended: { pkg: Package; handle: ExecutionHandle; state: ExecutionState }[] = [];

  await inParallel(packages, async (pkg) => {
    const handle = await app.runtime.start(auditPackage, pkg, { executionId: executionIdOf(pkg) });
    const state = await handle.settled();
    if (state.status === "suspended") suspended.push({ pkg, handle, state });
    else if (state.status !== "completed") failures.push({ id: handle.executionId, reason: reasonOf(state) });
    screen.advance();
  });
  screen.endWork();

  if (suspended.length > 0) screen.introduceQuestions(suspended.length, approver);
  for (const { pkg, handle, state } of suspended.toSorted((a, b) => (a.pkg.path < b.pkg.path ? -1 : 1))) {
    const verdict = Verdict.parse(state.frames["judge"]?.output);
    const approval = await approver.decide({ name: pkg.name, path: pkg.path, verdict });
    if (!approval) return { kind: "stopped" };
    await app.runtime.resume(handle.executionId, { eventType: "LicenseApproval", payload: approval });
  }
  for (const { handle } of suspended) {
    const state = await handle.waitForCompletion();
    if (state.status !== "completed") failures.push({ id: handle.executionId, reason: reasonOf(state) });
  }
  const ended = await app.runtime.list({ status: ["completed", "failed"], limit: Infinity });
  return { kind: "finished", ended, failures };
}

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values();
  const worker = async (): Promise<void> => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

function reasonOf(state: ExecutionState): string {
  return state.error instanceof Error ? state.error.message : (state.reason ?? String(state.error));
}
