// Bars: throughput against setting, as a terminal shows it. Length alone tells, so that it reads without colours.

import { padEnd, padStart } from "../render/text.js";
import { count, many } from "./figures.js";
import type { Measurement } from "./measurement.js";
import { PACKET_CALLS } from "./plan.js";

const WIDTH_DEFAULT = 80;
const BAR_MIN = 10;
const BAR_MAX = 50;
/** An eighth of a column to a whole one. */
const PARTS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

export function bars(measured: readonly Measurement[], width: number = WIDTH_DEFAULT): string[] {
  const most = Math.max(...measured.map(({ throughput }) => throughput));
  const rows = measured.map((measurement, index) => {
    const before = measured[index - 1]?.setting;
    const { threads, callsPerThread, packetCalls } = measurement.setting;
    const packet = packetCalls === PACKET_CALLS ? "" : ` in ${packetCalls}s`;
    return {
      threads: before?.threads === threads ? "" : many(threads, "thread"),
      calls: many(callsPerThread, "call") + (callsPerThread === 1 ? " " : "") + packet,
      share: most === 0 ? 0 : measurement.throughput / most,
      rate: count(measurement.throughput),
    };
  });
  const widest = (cells: readonly string[]): number => Math.max(...cells.map((cell) => cell.length));
  const threadsWidth = widest(rows.map(({ threads }) => threads));
  const callsWidth = widest(rows.map(({ calls }) => calls));
  const rateWidth = widest(rows.map(({ rate }) => rate));
  const room = width - threadsWidth - callsWidth - rateWidth - 6;
  const barWidth = Math.min(BAR_MAX, Math.max(BAR_MIN, room));
  return rows.map(({ threads, calls, share, rate }) => {
    const labels = `${padEnd(threads, threadsWidth)}  ${padStart(calls, callsWidth)}`;
    return `${labels}  ${bar(share, barWidth)} ${rate}`;
  });
}

function bar(share: number, width: number): string {
  const eighths = Math.round(share * width * PARTS.length);
  const whole = "█".repeat(Math.floor(eighths / PARTS.length));
  const part = PARTS[eighths % PARTS.length] ?? "";
  return whole + part || "▏";
}
