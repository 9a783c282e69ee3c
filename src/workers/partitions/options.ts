// Options of partition threads, checked where they enter: every complaint names the option as a user wrote it.

import type { ResourceLimits } from "node:worker_threads";
import { TIMER_MS_MAX } from "../../kernel/clock.js";
import { checkOptionGroup, HeddleError, invalidOption } from "../../kernel/index.js";
import { checkNumber, checkResourceLimits, LOAD_TIMEOUT_MS, moduleUrl } from "../option-rules.js";
import type { EffectPoolOptions } from "../pool/options.js";

/** Where executions run. Without it everything runs in the host's thread. */
export interface WorkersConfig {
  /** Threads that run partitions. Default 0: partitions run in the host's thread. */
  actors?: number | undefined;
  /**
   * The module partition threads load: a URL, or an absolute path. Every registered flow it exports is taken, and
   * `registerEffects`, `effectMiddleware`, `claimCheck` and `secrets` where it exports them.
   */
  app?: URL | string | undefined;
  /** For hosts that bundle heddle: where `partition.worker.js` of the same version lies. */
  entry?: URL | undefined;
  /** Of each partition thread, as `new Worker` takes them. The young generation has 64 MB unless it is named here. */
  resourceLimits?: ResourceLimits | undefined;
  /** How long the module may take to load, in milliseconds. Default 60,000. */
  loadTimeoutMs?: number | undefined;
  /** A pool of threads for the effects a module exports. Partition threads divide its limits among themselves. */
  effects?: EffectPoolOptions | undefined;
}

/** Partition threads as they were asked for. */
export interface ThreadOptions {
  readonly count: number;
  readonly app: string;
  readonly entry: URL;
  readonly resourceLimits: ResourceLimits;
  readonly loadTimeoutMs: number;
}

const OPTIONS = ["actors", "app", "entry", "resourceLimits", "loadTimeoutMs", "effects"];
const THREADS_MAX = 256;
/** Executions live shorter than a young generation of this size takes to fill, and with a smaller one they grow old first. */
const YOUNG_GENERATION_MB = 64;

/** What `workers` says of partition threads; undefined when there are to be none. */
export function readThreadOptions(workers: WorkersConfig | undefined): ThreadOptions | undefined {
  if (workers === undefined) return undefined;
  checkOptionGroup("workers", workers, OPTIONS);
  const { actors = 0, app, entry, resourceLimits, loadTimeoutMs = LOAD_TIMEOUT_MS } = workers;
  checkNumber("workers.actors", actors, { least: 0, most: THREADS_MAX, isWhole: true });
  if (entry !== undefined && !(entry instanceof URL && /^(?:file|data):$/.test(entry.protocol)))
    throw invalid("entry", 'must be a URL, as in new URL("./partition.worker.js", import.meta.url)');
  checkResourceLimits("workers.resourceLimits", resourceLimits);
  checkNumber("workers.loadTimeoutMs", loadTimeoutMs, { least: 1, most: TIMER_MS_MAX });
  const url = app === undefined ? undefined : moduleUrl("workers.app", app, "flows.js");
  if (actors === 0) return undefined;
  if (url === undefined) {
    throw invalid(
      "app",
      "has to name the module that exports the flows, because functions cannot cross threads: " +
        'write new URL("./flows.js", import.meta.url)',
    );
  }
  return {
    count: actors,
    app: url,
    entry: entry ?? new URL("../partition.worker.js", import.meta.url),
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB, ...resourceLimits },
    loadTimeoutMs,
  };
}

export function invalid(option: string, complaint: string, cause?: unknown): HeddleError {
  return invalidOption(`workers.${option}`, complaint, cause);
}
