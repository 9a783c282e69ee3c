// heddle tune: runs an effect of the user's under several settings of the pool, and recommends some.
//
// U1  Nothing is called before the user has agreed, on a terminal or with --yes.
// U2  Whatever can be found wrong without a call is found before the question.
// U3  Ctrl-C ends the setting under way and keeps those that are through; what was measured is printed.
// U4  An idle pool keeps no process alive, and it is idle while it opens and closes: the command keeps its process itself.

import { existsSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname } from "node:path";
import { curvesSvg, type Drawing } from "../drawing/curves.js";
import { CommandFailure, type ExitCode } from "../failure.js";
import { printable } from "../render/text.js";
import type { Terminal } from "../terminal.js";
import { agreesTo } from "./consent.js";
import { count, duration, many, percent } from "./figures.js";
import { readInputs, STDIN } from "./inputs.js";
import type { Measurement, Setting } from "./measurement.js";
import { type Budget, costAtMost, nextSetting, PACKET_CALLS, type PlanLimits } from "./plan.js";
import { recommend } from "./recommendation.js";
import { Subject } from "./subject.js";
import { tryOut } from "./trial.js";
import { classWords, reportJson, reportLines, type TuneReport } from "./tune-report.js";

export interface TuneOptions {
  readonly module: string;
  readonly effect: string;
  readonly input: string;
  readonly each?: boolean;
  readonly calls?: number;
  readonly seconds?: number;
  readonly maxThreads?: number;
  readonly maxCallsPerThread: number;
  readonly out?: string;
  readonly json?: boolean;
  readonly yes?: boolean;
}

const SECONDS_DEFAULT = 2;
const HOLD_MS = 1_000_000;

export async function tune(terminal: Terminal, options: TuneOptions): Promise<ExitCode> {
  // U4
  const hold = setInterval(() => {}, HOLD_MS);
  try {
    return await tuned(terminal, options);
  } finally {
    clearInterval(hold);
  }
}

async function tuned(terminal: Terminal, options: TuneOptions): Promise<ExitCode> {
  const { module, effect: effectId, out, json = false } = options;
  const limits = limitsOf(options);
  checkOut(out);
  divertThreadOutput();
  const inputs = await readInputs(options.input, options.each ?? false);
  const subject = new Subject({ module, effectId, inputs });
  const { placement } = await subject.describe();
  announce(terminal, subject, options, limits);
  if (placement === "inline") {
    terminal.note(
      `It says placement: "inline": in an application it runs in the host's thread, and not as measured here.`,
    );
  }
  if (!(await isAgreed(terminal, options))) {
    terminal.note("Nothing was called.");
    return 1;
  }
  terminal.note("Calling it alone first ...");
  await subject.probe(terminal.signal);
  const { measured, isCutShort } = await measureAll(terminal, subject, limits);
  const processors = availableParallelism();
  const recommendation = recommend(measured, { processors, ...limits });
  const machine = { processors, node: process.versions.node };
  const report: TuneReport = { module, effectId, measured, recommendation, isCutShort, machine };
  if (json) await terminal.conclude([reportJson(report)]);
  else await terminal.conclude(reportLines(report, terminal));
  if (measured.length === 0) terminal.note("It was interrupted before anything was measured.");
  else if (!recommendation) terminal.note("No call completed, so there is nothing to recommend.");
  if (out !== undefined && measured.length > 0) {
    write(out, curvesSvg(drawingOf(report)));
    terminal.note(`The curves are in ${printable(out)}.`);
  }
  return recommendation ? 0 : 1;
}

function limitsOf({
  calls,
  seconds = SECONDS_DEFAULT,
  maxThreads,
  maxCallsPerThread,
}: TuneOptions): PlanLimits {
  const budget: Budget =
    calls === undefined ? { kind: "time", ms: seconds * 1_000 } : { kind: "calls", calls };
  return { budget, maxThreads: maxThreads ?? availableParallelism(), maxCallsPerThread };
}

/** A misspelt directory is found out before the minutes that follow. */
function checkOut(out: string | undefined): void {
  if (out === undefined || existsSync(dirname(out))) return;
  throw new CommandFailure(1, `There is no directory ${dirname(out)} to write --out to.`);
}

function write(out: string, svg: string): void {
  try {
    writeFileSync(out, svg);
  } catch (error) {
    throw new CommandFailure(1, `--out ${out} cannot be written: ${(error as Error).message}`);
  }
}

/** What effects print is piped into process.stdout by Node, among the results: it belongs beside them. */
function divertThreadOutput(): void {
  Object.defineProperty(process, "stdout", { configurable: true, get: () => process.stderr });
}

function announce(terminal: Terminal, subject: Subject, { module }: TuneOptions, limits: PlanLimits): void {
  const { settings, inFlight, calls } = costAtMost(limits);
  const { budget } = limits;
  const often =
    budget.kind === "time"
      ? `as often as it can: for ${duration(budget.ms)} under each of up to ${many(settings, "setting")}, longer if its calls are. --calls bounds their number.`
      : `${count((calls ?? 0) + subject.probes)} times at the most, under up to ${many(settings, "setting")}.`;
  terminal.note(
    [
      `This really calls ${printable(subject.effectId)} of ${printable(module)}, up to ${inFlight} at a time,`,
      often,
      "Whatever a call costs or changes, it costs or changes each time.",
    ].join("\n"),
  );
}

async function isAgreed(terminal: Terminal, { yes = false, input }: TuneOptions): Promise<boolean> {
  if (yes) return true;
  if (input === STDIN || process.stdin.isTTY !== true || process.stderr.isTTY !== true) {
    throw new CommandFailure(2, "There is nobody to ask whether that is fine: add --yes to say so.");
  }
  return agreesTo("Go on? [y/N] ", { input: process.stdin, output: process.stderr, signal: terminal.signal });
}

interface Measured {
  readonly measured: readonly Measurement[];
  readonly isCutShort: boolean;
}

async function measureAll(terminal: Terminal, subject: Subject, limits: PlanLimits): Promise<Measured> {
  const { signal } = terminal;
  const measured: Measurement[] = [];
  const { settings: most } = costAtMost(limits);
  for (let next = nextSetting(measured, limits); next; next = nextSetting(measured, limits)) {
    const name = `[${measured.length + 1} of at most ${most}] ${settingWords(next)}`;
    if (!signal.aborted) terminal.note(`${name} ...`);
    const measurement = signal.aborted ? undefined : await trial(subject, next, limits, signal);
    if (!measurement) return { measured, isCutShort: true };
    measured.push(measurement);
    terminal.note(`${name}: ${measurementWords(measurement)}`);
  }
  return { measured, isCutShort: false };
}

function trial(subject: Subject, setting: Setting, { budget }: PlanLimits, signal: AbortSignal) {
  return tryOut({ open: (options) => subject.open(options), call: subject.call, setting, budget, signal });
}

function settingWords({ threads, callsPerThread, packetCalls }: Setting): string {
  const packet = packetCalls === PACKET_CALLS ? "" : ` in packets of ${packetCalls}`;
  return `${many(threads, "thread")}, ${many(callsPerThread, "call")} each${packet}`;
}

function measurementWords({ throughput, latencyMs, utilization, failed }: Measurement): string {
  const failures = failed === 0 ? "" : `, ${count(failed)} failed`;
  const { p50, p99 } = latencyMs;
  return `${count(throughput)}/s, p50 ${duration(p50)}, p99 ${duration(p99)}, ${percent(utilization)} busy${failures}`;
}

function drawingOf({ effectId, measured, recommendation, machine }: TuneReport): Drawing {
  const usual = measured
    .filter(({ setting }) => setting.packetCalls === PACKET_CALLS)
    .sort(
      (a, b) => a.setting.threads - b.setting.threads || a.setting.callsPerThread - b.setting.callsPerThread,
    );
  const counts = [...new Set(usual.map(({ setting }) => setting.threads))];
  const curves = (y: (each: Measurement) => number) => {
    return counts.map((threads) => ({
      name: many(threads, "thread"),
      points: usual
        .filter(({ setting, completed }) => setting.threads === threads && completed > 0)
        .map((each) => ({ x: each.setting.callsPerThread, y: y(each) })),
    }));
  };
  const kind = recommendation ? `${classWords(recommendation.effect)}; ` : "";
  return {
    title: effectId,
    subtitle: `${kind}${many(machine.processors, "processor")}, Node ${machine.node}`,
    xLabel: "calls a thread has at a time",
    panels: [
      { title: "calls/s", curves: curves(({ throughput }) => throughput), label: count },
      {
        title: "p99 latency",
        curves: curves(({ latencyMs }) => latencyMs.p99),
        // Round figures, as those of an axis are.
        label: (ms) => duration(ms).replace(".0 ", " "),
        isLog: true,
      },
    ],
  };
}
