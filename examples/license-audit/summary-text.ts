// Summary as text: the report as a person reads it.

import picocolors from "picocolors";
import type { Summary } from "./summary.js";

const { bold, dim, green, red, yellow } = picocolors;
const PAINT = { allowed: green, approved: yellow, refused: red, denied: red };

/** `kept` says whether the log will still be there to look at. */
export function summaryText(summary: Summary, kept: boolean): string {
  const { packages, files, bytes } = summary;
  return [
    bold(`${count(packages, "package")}, ${count(files, "file")}, ${(bytes / 1e6).toFixed(1)} MB`),
    findings(summary),
    proof(summary),
    speed(summary),
    ...(kept ? [`Look at one log:\n  ${bold(summary.logsCommand)}`] : []),
  ]
    .map((paragraph) => `\n${paragraph}\n`)
    .join("");
}

function findings({ licenses, decisions, flagged, failures }: Summary): string {
  const width = Math.max(...flagged.map(({ name, version }) => `${name}@${version}`.length));
  return [
    ...licenses.map(({ license, packages }) => `  ${number(packages).padStart(6)}  ${license}`),
    "",
    Object.entries(decisions)
      .map(([decision, packages]) => `${number(packages)} ${decision}`)
      .join(", "),
    ...flagged.map(({ name, version, decision, reason }) => {
      const who = `${name}@${version}`.padEnd(width);
      return `  ${PAINT[decision](decision.padEnd(8))}  ${who}  ${dim(reason)}`;
    }),
    ...failures.map(({ id, reason }) => `  ${red("failed  ")}  ${id}  ${dim(reason)}`),
  ].join("\n");
}

function proof({ steps, kills, counter }: Summary): string {
  return [
    `What the steps themselves wrote into ${counter}:`,
    `  steps completed: ${number(steps.completed)}, run again after completion: ${number(steps.runAgainAfterCompletion)}`,
    ...(kills > 0 || steps.cutShort.length > 0
      ? [`  in-flight attempts cut short by the kill and run again: ${number(steps.cutShort.length)}`]
      : []),
  ].join("\n");
}

function speed({ executions, executionsPerSecond, seconds, kills }: Summary): string {
  const included =
    kills === 0 ? "" : `, ${count(kills, "kill")} and restart${kills === 1 ? "" : "s"} included`;
  const rate = number(Math.round(executionsPerSecond));
  return `${count(executions, "execution")} in ${seconds.toFixed(1)} s, ${rate} a second${included}`;
}

export function count(quantity: number, noun: string): string {
  return `${number(quantity)} ${noun}${quantity === 1 ? "" : "s"}`;
}

function number(quantity: number): string {
  return quantity.toLocaleString("en");
}
