// Options of partition threads, checked where they enter: every complaint names the option as a user wrote it.

import { isAbsolute } from "node:path";
import { pathToFileURL } from "node:url";
import type { ResourceLimits } from "node:worker_threads";
import { HeddleError } from "../../kernel/index.js";
import type { EffectPoolOptions } from "../pool/options.js";

/** Where executions run. Without it everything runs in the host's thread. */
export interface WorkersConfig {
  /** Threads that run partitions. Default 0: partitions run in the host's thread. */
  actors?: number | undefined;
  /**
   * The module partition threads load: a URL, or an absolute path. Every registered flow it exports is taken, and
   * `registerEffects`, `effectMiddleware` and `claimCheck` where it exports them.
   */
  app?: URL | string | undefined;
  /** For hosts that bundle heddle: where `partition.worker.js` of the same version lies. */
  entry?: URL | undefined;
  /** Of each partition thread, as `new Worker` takes them. The young generation has 64 MB unless it is named here. */
  resourceLimits?: ResourceLimits | undefined;
  /** A pool of threads for the effects a module exports. Partition threads divide its limits among themselves. */
  effects?: EffectPoolOptions | undefined;
}

/** Partition threads as they were asked for. */
export interface ThreadOptions {
  readonly count: number;
  readonly app: string;
  readonly entry: URL;
  readonly resourceLimits: ResourceLimits;
}

const OPTIONS = ["actors", "app", "entry", "resourceLimits", "effects"];
const RESOURCE_LIMITS = [
  "maxYoungGenerationSizeMb",
  "maxOldGenerationSizeMb",
  "codeRangeSizeMb",
  "stackSizeMb",
] as const;
const THREADS_MAX = 256;
/** Executions live shorter than a young generation of this size takes to fill, and with a smaller one they grow old first. */
const YOUNG_GENERATION_MB = 64;

/** What `workers` says of partition threads; undefined when there are to be none. */
export function readThreadOptions(workers: WorkersConfig | undefined): ThreadOptions | undefined {
  if (workers === undefined) return undefined;
  if (typeof workers !== "object" || workers === null)
    throw new HeddleError("CONFIG_INVALID", "workers is a group of options, so it must be an object.");
  const unknown = Object.keys(workers).find((option) => !OPTIONS.includes(option));
  if (unknown !== undefined) throw invalid(unknown, `is no option here. There are: ${OPTIONS.join(", ")}`);
  const { actors = 0, app, entry, resourceLimits } = workers;
  if (!Number.isInteger(actors) || actors < 0 || actors > THREADS_MAX)
    throw invalid("actors", `must be a whole number from 0 to ${THREADS_MAX}, not ${describe(actors)}`);
  if (entry !== undefined && !(entry instanceof URL && /^(?:file|data):$/.test(entry.protocol)))
    throw invalid("entry", 'must be a URL, as in new URL("./partition.worker.js", import.meta.url)');
  checkResourceLimits(resourceLimits);
  if (app !== undefined) moduleUrl(app);
  if (actors === 0) return undefined;
  if (app === undefined) {
    throw invalid(
      "app",
      "has to name the module that exports the flows, because functions cannot cross threads: " +
        'write new URL("./flows.js", import.meta.url)',
    );
  }
  return {
    count: actors,
    app: moduleUrl(app),
    entry: entry ?? new URL("../partition.worker.js", import.meta.url),
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB, ...resourceLimits },
  };
}

export function invalid(option: string, complaint: string, cause?: unknown): HeddleError {
  const name = `workers.${option}`;
  return new HeddleError("CONFIG_INVALID", `${name} ${complaint}.`, {
    details: { option: name },
    ...(cause !== undefined && { cause }),
  });
}

function checkResourceLimits(limits: unknown): void {
  if (limits === undefined) return;
  if (typeof limits !== "object" || limits === null) throw invalid("resourceLimits", "must be an object");
  for (const [name, value] of Object.entries(limits)) {
    if (!RESOURCE_LIMITS.some((limit) => limit === name))
      throw invalid(
        `resourceLimits.${name}`,
        `is no limit of a worker thread: ${RESOURCE_LIMITS.join(", ")}`,
      );
    if (value !== undefined && !(typeof value === "number" && value > 0))
      throw invalid(`resourceLimits.${name}`, `must be a number over 0, not ${describe(value)}`);
  }
}

function moduleUrl(module: unknown): string {
  if (module instanceof URL) return module.href;
  if (typeof module === "string") {
    if (isAbsolute(module)) return pathToFileURL(module).href;
    if (/^(?:file|data|node):/.test(module)) return module;
  }
  throw invalid(
    "app",
    `must be a URL or an absolute path, not ${describe(module)}: write new URL("./flows.js", import.meta.url)`,
  );
}

function describe(value: unknown): string {
  if (typeof value === "number") return String(value);
  return typeof value === "string" ? JSON.stringify(value) : typeof value;
}
