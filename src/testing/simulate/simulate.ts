// simulate: a user's own flow through hundreds of crash schedules, in memory. The first schedule in which it comes out otherwise
// than undisturbed is reported, with what happened in it.

import { AssertionError } from "node:assert";
import { setTimeout as realDelay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { checkCount, type ExecutionState, invalidOption, type RegisteredFlow } from "../../kernel/index.js";
import { FAULT_NAMES, type FaultName, NO_FAULTS, swarm } from "../sim/faults.js";
import { SimRandom } from "../sim/random.js";
import { Simulation, type SimulationResult } from "../sim/simulation.js";
import { EffectWitness, type SimulatedEffects } from "./effect-witness.js";
import { timelineOf } from "./timeline.js";
import { isWaitedFor, type WallClock, withWallTime } from "./wall-time.js";
import { calledOutside } from "./witness.js";

export interface SimulateOptions<TIn = unknown> {
  readonly input: TIn;
  /** How many schedules. Default 200. */
  readonly seeds?: number;
  /** The first seed: that of a report, to see its schedule again. Default 1. */
  readonly firstSeed?: number;
  /**
   * What may go wrong. Default: kills, losses of power, failing and slow commits, slow reads, repeated requests, passivation. With
   * `workerLoss`, `lateResult` or `clockStep` a flow with time limits may rightly come to another result.
   */
  readonly faults?: readonly FaultName[];
  /** What stands in for effects, by the id of a step or a tool. A step's own handler runs when nothing does. */
  readonly effects?: SimulatedEffects;
  /** What gates are answered, by name or by id. */
  readonly answers?: Readonly<Record<string, unknown>>;
  /** Called before each schedule, to put back what effects have changed. */
  readonly reset?: () => void;
  /** What has to be the same in every schedule. Default: the whole output. */
  readonly compare?: (output: unknown) => unknown;
}

/**
 * `result`: it ended otherwise than undisturbed. `doubledEffect`: an effect ran again that could not tell (it did not read its
 * `idempotencyKey`, and does not say `idempotent: true`). `effectOutsideStep`: a `witness` was called by the flow itself. `divergence`: a
 * replay did not match the log. `stall`: it went no further. `broken`: heddle did not keep a promise of its own.
 */
export type FailureKind =
  | "result"
  | "doubledEffect"
  | "effectOutsideStep"
  | "divergence"
  | "stall"
  | "broken";

export interface ScheduleFailure {
  readonly kind: FailureKind;
  /** Runs the same schedule again: `simulate(flow, { ...options, firstSeed: seed, seeds: 1 })`. */
  readonly seed: number;
  readonly message: string;
  /** What happened, one line each. */
  readonly timeline: string;
}

export interface SimulationReport {
  /** Schedules that were run. */
  readonly schedules: number;
  /** The first that failed; undefined when none did. */
  readonly failure: ScheduleFailure | undefined;
}

const DEFAULT_FAULTS: readonly FaultName[] = [
  "kill",
  "powerLoss",
  "failedCommit",
  "slowCommit",
  "slowRead",
  "duplicateRequest",
  "passivation",
];
const DEFAULT_SEEDS = 200;
const FAULT_TICKS = 150;
const ID = "simulated";
/** How long an effect that runs in real time is waited for, each once. */
const REAL_PATIENCE_MS = 100;

/**
 * Runs a flow through crash schedules and reports the first that comes out otherwise than undisturbed. Nothing of it touches a disk, and
 * `Date` and timers are simulated meanwhile, in the whole process: do not run anything else that needs them.
 *
 * @throws CONFIG_INVALID for a fault there is not, or a number of seeds that is none
 */
export function simulate<TIn, TOut>(
  flow: RegisteredFlow<TIn, TOut>,
  options: SimulateOptions<NoInfer<TIn>>,
): Promise<SimulationReport> {
  checkOptions(options);
  const { seeds = DEFAULT_SEEDS, firstSeed = 1, faults: allowed = DEFAULT_FAULTS } = options;
  return withWallTime(async (bind) => {
    const calm = await runSchedule(flow, options, { seed: firstSeed, allowed: [], bind });
    if (calm.failure) return { schedules: 1, failure: calm.failure };
    for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
      const { failure } = await runSchedule(flow, options, { seed, allowed, bind, expected: calm.end });
      if (failure) return { schedules: seed - firstSeed + 1, failure };
    }
    return { schedules: seeds, failure: undefined };
  });
}

/**
 * Throws unless a flow does the same when it is replayed: it is killed and passivated at many points, at other times of day.
 *
 * @throws AssertionError with the timeline of the schedule that shows it
 */
export async function assertDeterministic<TIn, TOut>(
  flow: RegisteredFlow<TIn, TOut>,
  options: SimulateOptions<NoInfer<TIn>>,
): Promise<void> {
  const { failure } = await simulate(flow, { seeds: 60, faults: ["kill", "passivation"], ...options });
  if (!failure || failure.kind === "doubledEffect") return;
  throw new AssertionError({ message: `${failure.message}\n${failure.timeline}` });
}

interface Schedule {
  readonly seed: number;
  readonly allowed: readonly FaultName[];
  readonly bind: (clock: WallClock) => void;
  readonly expected?: unknown;
}

async function runSchedule(
  flow: RegisteredFlow,
  options: SimulateOptions,
  { seed, allowed, bind, expected }: Schedule,
): Promise<{ readonly end: unknown; readonly failure: ScheduleFailure | undefined }> {
  options.reset?.();
  const witness = new EffectWitness(options.effects ?? {});
  const faults = allowed.length === 0 ? NO_FAULTS : swarm(new SimRandom(seed).fork("faults"), allowed);
  const simulation = new Simulation({
    seed,
    faults,
    faultTicks: allowed.length === 0 ? 0 : FAULT_TICKS,
    flows: [flow],
    subjects: [
      {
        executionId: ID,
        flow,
        input: options.input,
        startAtMs: 0,
        answer: (gate) => answerOf(options.answers ?? {}, gate),
        verdict: () => "retry",
      },
    ],
    shown: witness.shown,
    settleOutside: () => settled(witness),
  });
  bind(wallClockOf(simulation));
  const { result, names } = await calledOutside(() => simulation.run());
  const end = endOf(result.ends.get(ID), options.compare ?? ((output) => output));
  const found = fault(result, witness, names) ?? (expected !== undefined && otherResult(end, expected));
  const failure = found ? { ...found, seed, timeline: timelineOf(result.entries) } : undefined;
  return { end, failure };
}

type Found = Pick<ScheduleFailure, "kind" | "message">;

function fault(
  { violation }: SimulationResult,
  witness: EffectWitness,
  outside: readonly string[],
): Found | undefined {
  if (outside[0] !== undefined)
    return {
      kind: "effectOutsideStep",
      message: `${outside[0]} was called by the flow itself: every replay calls it again. Put it into a step.`,
    };
  const { doubled } = witness;
  if (doubled)
    return {
      kind: "doubledEffect",
      message:
        `The effect of ${doubled.stepId} ran ${doubled.runs} times for one request, and did not read ctx.idempotencyKey. Hand the key ` +
        "to the system it calls, or say idempotent: true when a repeat does no harm, or false when it must not happen.",
    };
  if (!violation) return undefined;
  switch (violation.rule) {
    case "divergence":
    case "stall":
      return { kind: violation.rule, message: violation.message };
    default:
      return { kind: "broken", message: `heddle did not keep a promise of its own: ${violation.message}` };
  }
}

function otherResult(end: unknown, expected: unknown): Found | undefined {
  if (isDeepStrictEqual(end, expected)) return undefined;
  return {
    kind: "result",
    message: `It ended as ${JSON.stringify(end)}, undisturbed as ${JSON.stringify(expected)}.`,
  };
}

function endOf(state: ExecutionState | undefined, compare: (output: unknown) => unknown): unknown {
  if (!state) return undefined;
  const { status, variables, error } = state;
  if (status === "completed") return { status, output: compare(variables["_output"]) };
  return { status, error: error instanceof Error ? `${error.name}: ${error.message}` : error };
}

function answerOf(
  answers: Readonly<Record<string, unknown>>,
  { on, gateId }: { on: string; gateId: string },
) {
  const name = [gateId, on].find((each) => Object.hasOwn(answers, each));
  return name === undefined ? undefined : { payload: answers[name] };
}

/** Lets effects end that wait for nothing simulated. */
async function settled(witness: EffectWitness): Promise<void> {
  const { underWay } = witness;
  if (underWay.length === 0 || isWaitedFor()) return;
  const patience = new AbortController();
  const over = realDelay(REAL_PATIENCE_MS, "over", { signal: patience.signal }).catch(() => "over");
  const first = await Promise.race([over, ...underWay.map((promise) => promise.then(noOutcome, noOutcome))]);
  patience.abort();
  if (first === "over") witness.leave(underWay);
}

const noOutcome = (): void => {};

function wallClockOf(simulation: Simulation): WallClock {
  const { scheduler } = simulation;
  return {
    now: () => scheduler.now,
    after: (delayMs, callback) =>
      scheduler.active ? scheduler.schedule(scheduler.active, delayMs, callback) : () => {},
  };
}

function checkOptions({ seeds, faults = [] }: SimulateOptions): void {
  checkCount("simulate: seeds", seeds, 1);
  for (const name of faults)
    if (!FAULT_NAMES.includes(name))
      throw invalidOption(
        "simulate: faults",
        `knows no ${String(name)}; there are ${FAULT_NAMES.join(", ")}`,
      );
}
