// Config: the grouped options of defineConfig, and the check that names what is wrong with them. TypeScript rejects a
// misplaced option in a literal; the check is for configurations put together at run time, and for JavaScript.

import { closest, distance } from "fastest-levenshtein";
import {
  type ExecutionAuthorizer,
  isRegisteredFlow,
  type OnExecutionDenied,
  type ResumeAuthenticator,
} from "../actors/index.js";
import {
  type CapabilityAuthorizer,
  type ClaimCheckConfig,
  checkClaimCheckConfig,
  type EffectMiddleware,
  type EffectRuntime,
  isAuthorizer,
  KillSwitch,
} from "../effects/index.js";
import {
  checkCount,
  checkFlag,
  checkFunction,
  checkPolicies,
  type EventEnvelope,
  type FlowModule,
  HeddleError,
  invalidOption,
  type PolicyDefinition,
  type RegisteredFlow,
} from "../kernel/index.js";
import { invalidWorkers, readThreadOptions } from "../workers/index.js";
import type { WorkersConfig } from "../workers/partitions/options.js";
import { checkDefinitionOptions, DEFINITION_OPTIONS, type DefinitionsConfig } from "./definitions.js";
import { type EnvelopeConfig, readEnvelope } from "./envelope.js";
import { checkList, isRecord, unavailable } from "./option-checks.js";
import { checkReasoning, type ReasoningConfig } from "./reasoning.js";
import { checkSealingKey, checkSecrets, type SealingKey, type SecretsConfig } from "./secrets.js";
import type { StorageConfig } from "./storage.js";

export interface SecurityConfig {
  /** Asked before each effect. A denial is the step's failure, EFFECT_DENIED. */
  authorizer?: CapabilityAuthorizer | undefined;
  /** What effects of every flow may be at most; flows may have policies of their own. */
  policies?: PolicyDefinition[] | undefined;
  /** Stops effects of the system, a tenant or a flow while the app runs. */
  killSwitch?: KillSwitch | undefined;
  /** Asked before an execution is started, looked at, answered or cancelled. A denial is EXECUTION_DENIED; nothing is recorded. */
  executionAuthorizer?: ExecutionAuthorizer | undefined;
  /** Told of each denial of `executionAuthorizer`. */
  onExecutionDenied?: OnExecutionDenied | undefined;
  /** Says who it is that answers a gate, before anything is recorded. */
  resumeAuthenticator?: ResumeAuthenticator | undefined;
  /** Refuses a configuration without `authorizer`, `killSwitch` and budgets (`execution.envelope`). Default false. */
  strict?: boolean | undefined;
  /** Looks up credentials in the thread of the effect, so that they are written nowhere (docs/secrets.md). */
  secrets?: SecretsConfig | undefined;
  /**
   * Seals what schemas mark as `sensitive` or `internal`, and whom executions act for. A key is needed as long as executions that
   * used it are to go on.
   */
  sealingKey?: SealingKey | undefined;
}

export interface ObservabilityConfig {
  /** Not in this version: a value is refused, not ignored. */
  telemetry?: readonly unknown[] | undefined;
  /** What is kept of what models think. Default: what the model effects say, and a warning for those that keep nothing. */
  reasoning?: ReasoningConfig | undefined;
  /** Each event when it is appended, before it is durable. */
  onEvent?: ((event: EventEnvelope) => void) | undefined;
  /** Each event once it is durable. */
  onDurableEvent?: ((event: EventEnvelope) => void) | undefined;
  onWarn?: ((message: string) => void) | undefined;
  /** Failed commits (with an empty id) and failed snapshots. */
  onStorageError?: ((executionId: string, err: unknown) => void) | undefined;
}

export interface DurabilityConfig {
  /** Saves a folded state every so many events, which shortens `loadState`. Default: never. */
  snapshotEvery?: number | undefined;
}

export interface ExecutionConfig {
  /** Called once while the app is built, to register what steps name by `toolId`. */
  registerEffects?: ((effects: EffectRuntime) => void) | undefined;
  /** Counts what effects use, and bounds it. */
  envelope?: EnvelopeConfig | undefined;
  /** Around every effect, outermost first. */
  effectMiddleware?: EffectMiddleware[] | undefined;
  /** Keeps large results of the tools it lists beside the log, and lets effects return streams. */
  claimCheck?: ClaimCheckConfig | undefined;
  /** The clock of events, timers and `ctx.now()`: milliseconds since the epoch. Default: the host's. */
  now?: (() => number) | undefined;
  /** Whether `start` parses inputs by the flow's schema. Default true. */
  validateInput?: boolean | undefined;
  /** Idle executions kept in memory; beyond it the least recently used are dropped and replayed when needed. Default 10,000. */
  maxResident?: number | undefined;
  /** Largest value a step, gate or flow may record, in bytes. Default 16 MiB. */
  maxValueBytes?: number | undefined;
  /** What becomes of a start when there is no room: it waits, or it is refused with OVERLOADED. Default "wait". */
  admission?: "wait" | "reject" | undefined;
  /** Executions at work at once; those that are parked do not count. Default: no bound. */
  maxInFlight?: number | undefined;
  /** Bytes of the inputs of starts that wait for room; a start over it is refused with OVERLOADED. Default 64 MiB. */
  maxWaitingBytes?: number | undefined;
}

export interface LoomConfig extends DefinitionsConfig {
  storage: StorageConfig;
  flows?: RegisteredFlow[] | undefined;
  /** Modules of flows, as code generation lists them; every registered flow a module exports is taken. */
  flowModules?: FlowModule[] | undefined;
  /** False builds without opening the log; `app.start()` does that later. Default true. */
  autostart?: boolean | undefined;
  security?: SecurityConfig | undefined;
  observability?: ObservabilityConfig | undefined;
  durability?: DurabilityConfig | undefined;
  execution?: ExecutionConfig | undefined;
  /** Where executions and effects run. Without it everything runs in the host's thread. */
  workers?: WorkersConfig | undefined;
}

type Group = "security" | "observability" | "durability" | "execution" | "checks";

/** Options by group: those this version has, and those that are named and not there yet. */
const GROUPS: Readonly<
  Record<Group, { readonly has: readonly string[]; readonly later: readonly string[] }>
> = {
  security: {
    has: [
      "authorizer",
      "policies",
      "killSwitch",
      "secrets",
      "sealingKey",
      "executionAuthorizer",
      "onExecutionDenied",
      "resumeAuthenticator",
      "strict",
    ],
    later: ["compliance", "crypto"],
  },
  observability: {
    has: ["onEvent", "onDurableEvent", "onWarn", "onStorageError", "reasoning"],
    later: ["telemetry"],
  },
  durability: { has: ["snapshotEvery"], later: ["retention", "snapshots", "heartbeat"] },
  execution: {
    has: [
      "registerEffects",
      "effectMiddleware",
      "claimCheck",
      "now",
      "validateInput",
      "maxResident",
      "maxValueBytes",
      "admission",
      "maxInFlight",
      "maxWaitingBytes",
      "envelope",
    ],
    later: ["dispatcher", "errorClasses"],
  },
  checks: { has: [], later: ["validate", "verify", "manifest"] },
};

const TOP_LEVEL = [
  "storage",
  "flows",
  "flowModules",
  ...DEFINITION_OPTIONS,
  "autostart",
  "workers",
  ...Object.keys(GROUPS),
];
const TOP_LEVEL_LATER = [
  "scheduleModules",
  "memoryModules",
  "memories",
  "memoryStore",
  "projectionModules",
  "projections",
  "projectionRuntime",
  "capabilityAgents",
  "a2a",
  "catalog",
  "timers",
];

/** Refuses options that are misplaced, misspelt, or not in this version. An ignored option is the worst kind of bug. */
export function checkConfig(config: unknown): asserts config is LoomConfig {
  if (typeof config !== "object" || config === null)
    throw new HeddleError("CONFIG_INVALID", "defineConfig takes an object of options.");
  for (const [option, value] of Object.entries(config)) {
    if (value === undefined) continue;
    if (Object.hasOwn(GROUPS, option)) checkGroup(option as Group, value);
    else if (!TOP_LEVEL.includes(option)) throw misplaced(option);
  }
  const { flows, flowModules, security, observability, durability, execution } = config as LoomConfig;
  checkSecurity(config as LoomConfig);
  checkSecrets(security?.secrets);
  checkSealingKey(security?.sealingKey);
  checkPolicies("security", security?.policies);
  checkList(
    "flows",
    flows,
    (flow) => isRegisteredFlow(flow) || "is no flow: make one by defineFlow(definition, runner)",
  );
  checkList(
    "flowModules",
    flowModules,
    (module) =>
      isRecord(module) ||
      'is no module: flowModules takes modules, as in import * as orders from "./orders.js"',
  );
  const { reasoning, ...hooks } = observability ?? {};
  for (const [hook, value] of Object.entries(hooks)) checkFunction(`observability.${hook}`, value);
  checkReasoning(reasoning);
  checkDefinitionOptions(config);
  checkFunction("execution.registerEffects", execution?.registerEffects);
  checkFunction("execution.now", execution?.now);
  checkFlag("execution.validateInput", execution?.validateInput);
  checkFlag("autostart", (config as LoomConfig).autostart);
  checkList(
    "execution.effectMiddleware",
    execution?.effectMiddleware,
    (layer) => typeof layer === "function" || "must be a function",
  );
  if (execution?.claimCheck !== undefined)
    checkClaimCheckConfig("execution.claimCheck", execution.claimCheck);
  checkCount("durability.snapshotEvery", durability?.snapshotEvery, 1);
  checkCount("execution.maxResident", execution?.maxResident, 0);
  checkCount("execution.maxValueBytes", execution?.maxValueBytes, 1);
  checkCount("execution.maxInFlight", execution?.maxInFlight, 1);
  checkCount("execution.maxWaitingBytes", execution?.maxWaitingBytes, 0);
  const { admission } = execution ?? {};
  if (admission !== undefined && admission !== "wait" && admission !== "reject")
    throw invalidOption(
      "execution.admission",
      `must be "wait" or "reject", not ${JSON.stringify(admission)}`,
    );
  readEnvelope(execution?.envelope);
  checkWorkers(config as LoomConfig);
}

function checkSecurity({ security, execution, workers }: LoomConfig): void {
  const { authorizer, executionAuthorizer, resumeAuthenticator, onExecutionDenied, strict } = security ?? {};
  checkAuthorizer("security.authorizer", authorizer, "as a GrantTable has");
  checkAuthorizer("security.executionAuthorizer", executionAuthorizer, "which is told what is to be done");
  if (resumeAuthenticator !== undefined && typeof resumeAuthenticator.authenticate !== "function")
    throw invalidOption("security.resumeAuthenticator", "must have a function authenticate");
  checkFunction("security.onExecutionDenied", onExecutionDenied);
  const killSwitch: unknown = security?.killSwitch;
  if (killSwitch !== undefined && !(killSwitch instanceof KillSwitch))
    throw invalidOption("security.killSwitch", "must be a KillSwitch: new KillSwitch()");
  checkFlag("security.strict", strict);
  if (!strict) return;
  const missing = [
    // With partition threads it is the module's to export, which they see to.
    ...(authorizer || readThreadOptions(workers) ? [] : ["security.authorizer"]),
    ...(killSwitch ? [] : ["security.killSwitch"]),
    ...(execution?.envelope?.budgets?.length ? [] : ["execution.envelope.budgets"]),
  ];
  if (missing.length > 0)
    throw invalidOption(
      "security.strict",
      `asks for ${missing.join(", ")}: add what is missing, or leave strict out`,
    );
}

/** What cannot cross into partition threads is refused, not ignored. */
function checkWorkers({ workers, storage, execution, security, observability }: LoomConfig): void {
  const threads = readThreadOptions(workers);
  if (!threads) return;
  if (storage?.kind !== "lmdb")
    throw invalidWorkers("actors", "needs a log that threads share: storage has to be lmdbStorage({ dir })");
  for (const option of ["authorizer", "policies", "secrets"] as const) {
    if (security?.[option] === undefined) continue;
    throw invalidOption(
      `security.${option}`,
      `does not go with workers.actors: effects run in those threads. Export ${option} from the module that workers.app names (${threads.app})`,
    );
  }
  if (observability?.reasoning)
    throw invalidOption(
      "observability.reasoning",
      "does not go with workers.actors: models are asked in those threads. Give createAgentModelEffect its own reasoning there",
    );
  for (const option of ["registerEffects", "effectMiddleware", "claimCheck", "now"] as const) {
    if (execution?.[option] === undefined) continue;
    const advice =
      option === "now"
        ? "partition threads take the time of the system. Leave it out, or leave workers.actors out"
        : `a function cannot cross threads. Export ${option} from the module that workers.app names (${threads.app})`;
    throw invalidOption(`execution.${option}`, `does not go with workers.actors: ${advice}`);
  }
}

function checkGroup(group: Group, options: unknown): void {
  if (typeof options !== "object" || options === null)
    throw invalidOption(group, "is a group of options, so it must be an object");
  const { has, later } = GROUPS[group];
  for (const [option, value] of Object.entries(options)) {
    if (value === undefined || has.includes(option)) continue;
    if (later.includes(option)) throw unavailable(`${group}.${option}`);
    throw unknown(`${group}.${option}`, suggestion(option, [...has, ...later]));
  }
}

function misplaced(option: string): HeddleError {
  for (const [group, { has, later }] of Object.entries(GROUPS)) {
    if (!has.includes(option) && !later.includes(option)) continue;
    return new HeddleError(
      "CONFIG_OPTION_MOVED",
      `${option} belongs into a group: write defineConfig({ ${group}: { ${option} } }).`,
      {
        details: { option, group },
      },
    );
  }
  if (TOP_LEVEL_LATER.includes(option)) return unavailable(option);
  return unknown(option, suggestion(option, TOP_LEVEL));
}

function suggestion(option: string, known: readonly string[]): string {
  if (known.length === 0) return "";
  const nearest = closest(option, [...known]);
  return distance(option, nearest) <= 3 ? ` Did you mean ${nearest}?` : "";
}

function checkAuthorizer(
  option: string,
  value: { readonly authorize?: unknown } | undefined,
  which: string,
): void {
  if (value === undefined || isAuthorizer(value)) return;
  throw invalidOption(option, `must have a function authorize, ${which}`);
}

function unknown(option: string, suggestion: string): HeddleError {
  return new HeddleError("CONFIG_INVALID", `There is no option ${option}.${suggestion}`, {
    details: { option },
  });
}
