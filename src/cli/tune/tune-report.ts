// What the command prints in the end: the table, the bars, and the recommendation ready to paste; or all of it as JSON.

import { jsonLine } from "../render/json.js";
import { type Column, table } from "../render/table.js";
import { printable } from "../render/text.js";
import type { Colors } from "../terminal.js";
import { bars } from "./bars.js";
import type { EffectClass } from "./effect-class.js";
import { count, duration, percent } from "./figures.js";
import type { Measurement } from "./measurement.js";
import { PACKET_CALLS } from "./plan.js";
import type { PoolAdvice, Recommendation } from "./recommendation.js";

export interface TuneReport {
  readonly module: string;
  readonly effectId: string;
  readonly measured: readonly Measurement[];
  readonly recommendation: Recommendation | undefined;
  /** Whether Ctrl-C came before the plan was through. */
  readonly isCutShort: boolean;
  readonly machine: { readonly processors: number; readonly node: string };
}

export interface ReportLayout {
  readonly colors: Colors;
  readonly width: number | undefined;
}

export function reportLines(report: TuneReport, { colors, width }: ReportLayout): string[] {
  const { recommendation } = report;
  if (report.measured.length === 0) return [];
  const measured = report.measured.toSorted(bySetting);
  const chosen = recommendation && measured.indexOf(recommendation.chosen);
  const columns = columnsOf(measured).map((column): Column => {
    return { ...column, align: "right", paint: (text, row) => (row === chosen ? colors.bold(text) : text) };
  });
  return [
    ...table(columns, width, colors),
    "",
    colors.dim("calls/s, by threads and calls a thread has at a time"),
    ...bars(measured, width),
    "",
    ...(recommendation ? recommendationLines(report, recommendation, colors) : []),
  ];
}

export function reportJson({
  module,
  effectId,
  measured,
  recommendation,
  isCutShort,
  machine,
}: TuneReport): string {
  return jsonLine({
    effectId,
    module,
    machine,
    isCutShort,
    measured: measured.map(({ failure, ...figures }) => ({ ...figures, failure: failure ?? null })),
    effect: recommendation?.effect ?? null,
    recommendation: recommendation?.advice ?? null,
    reason: recommendation?.reason ?? null,
    notes: recommendation?.notes ?? [],
  });
}

/** By threads and calls, whatever the order they were tried in; other packets at the end. */
function bySetting({ setting: a }: Measurement, { setting: b }: Measurement): number {
  const isUsual = (packetCalls: number): number => (packetCalls === PACKET_CALLS ? 0 : packetCalls);
  return (
    isUsual(a.packetCalls) - isUsual(b.packetCalls) ||
    a.threads - b.threads ||
    a.callsPerThread - b.callsPerThread
  );
}

function columnsOf(measured: readonly Measurement[]): Column[] {
  const column = (title: string, cellOf: (each: Measurement) => string): Column => {
    return { title, cells: measured.map(cellOf) };
  };
  const isPacketTried = measured.some(({ setting }) => setting.packetCalls !== PACKET_CALLS);
  return [
    column("THREADS", ({ setting }) => String(setting.threads)),
    column("CALLS EACH", ({ setting }) => String(setting.callsPerThread)),
    ...(isPacketTried ? [column("PACKET", ({ setting }) => String(setting.packetCalls))] : []),
    column("CALLS/S", ({ throughput }) => count(throughput)),
    column("P50", ({ latencyMs }) => duration(latencyMs.p50)),
    column("P99", ({ latencyMs }) => duration(latencyMs.p99)),
    column("BUSY", ({ utilization }) => percent(utilization)),
    column("LOOP P99", ({ loopDelayMs }) => duration(loopDelayMs.p99)),
    column("CALLS", ({ completed, failed }) => count(completed + failed)),
    column("FAILED", ({ failed }) => count(failed)),
  ];
}

const CLASSES = { cpu: "CPU-bound", io: "IO-bound", mixed: "mixed" } as const;

function recommendationLines(
  { module, effectId, isCutShort }: TuneReport,
  { effect, advice, reason, notes }: Recommendation,
  colors: Colors,
): string[] {
  return [
    `${colors.bold(printable(effectId))} is ${colors.bold(classWords(effect))}. ${reason}`,
    ...notes.map((note) => printable(note)),
    ...(isCutShort
      ? ["This is from what was measured before it was interrupted: more might have done better."]
      : []),
    "",
    ...pasteLines(module, advice),
  ];
}

export function classWords({ kind, isBlocking }: EffectClass): string {
  return isBlocking ? `${CLASSES[kind]}, and blocks its thread` : CLASSES[kind];
}

/** A group of defineConfig, as one writes it. */
function pasteLines(
  module: string,
  { minThreads, maxThreads, callsPerThread, packet }: PoolAdvice,
): string[] {
  return [
    "workers: {",
    "  effects: {",
    `    module: new URL(${JSON.stringify(printable(module))}, import.meta.url),`,
    `    minThreads: ${minThreads},`,
    `    maxThreads: ${maxThreads},`,
    `    callsPerThread: ${callsPerThread},`,
    `    packet: { maxCalls: ${packet.maxCalls}, maxDelayMs: ${packet.maxDelayMs} },`,
    "  },",
    "},",
  ];
}
