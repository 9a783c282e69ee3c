// Times and spans. Absolute times are in UTC, so that the lines of two machines can be laid side by side. A log may
// hold any number as a time (the clock is the application's): what is no date is shown as the number it is.

/** "2026-11-30" */
export function day(epochMs: number): string {
  return isoOf(epochMs)?.slice(0, -14) ?? String(epochMs);
}

/** "10:35:32.961" */
export function clock(epochMs: number): string {
  return isoOf(epochMs)?.slice(-13, -1) ?? String(epochMs);
}

/** "2026-11-30 10:35:32.961" */
export function moment(epochMs: number): string {
  const iso = isoOf(epochMs);
  return iso === undefined ? String(epochMs) : `${iso.slice(0, -14)} ${iso.slice(-13, -1)}`;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A span to the two units that matter: "250ms", "1.204s", "12m03s", "3h04m", "5d03h". */
export function span(ms: number): string {
  if (!Number.isFinite(ms)) return String(ms);
  if (ms < 0) return `-${span(-ms)}`;
  const whole = Math.round(ms);
  if (whole < SECOND) return `${whole}ms`;
  if (whole < MINUTE) return `${(whole / SECOND).toFixed(3)}s`;
  if (whole < HOUR) return two(whole, MINUTE, "m", SECOND, "s");
  if (whole < DAY) return two(whole, HOUR, "h", MINUTE, "m");
  return two(whole, DAY, "d", HOUR, "h");
}

/** How long ago, to one unit: "now", "12s", "3m", "4h", "5d". */
export function age(ms: number): string {
  if (!Number.isFinite(ms)) return "?";
  if (ms < SECOND) return "now";
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)}s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)}m`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)}h`;
  return `${Math.floor(ms / DAY)}d`;
}

function two(ms: number, large: number, largeName: string, small: number, smallName: string): string {
  const rest = Math.floor((ms % large) / small);
  return `${Math.floor(ms / large)}${largeName}${String(rest).padStart(2, "0")}${smallName}`;
}

function isoOf(epochMs: number): string | undefined {
  const date = new Date(epochMs);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
