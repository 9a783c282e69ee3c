// Plots: a report as pictures, in files that a browser shows.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Report } from "../harness/report.js";
import { ratioBars } from "./ratio-bars.js";
import { agentCurves, courseCurves, inFlightCurves, timeCurves } from "./row-curves.js";

/** Pictures by their file names: those for which the report has something to show. */
export function plotsOf(report: Report): ReadonlyMap<string, string> {
  const plots: [string, string | undefined][] = [
    ["bench-ratios.svg", ratioBars(report)],
    ["bench-in-flight.svg", inFlightCurves(report)],
    ["bench-times.svg", timeCurves(report)],
    ["bench-agents.svg", agentCurves(report)],
    ...report.rows.map(({ id, course }): [string, string | undefined] => [
      `bench-${id.replaceAll("/", "-")}.svg`,
      course && courseCurves(`${id}, on its way`, course, report),
    ]),
  ];
  return new Map(plots.filter((plot): plot is [string, string] => plot[1] !== undefined));
}

/** What each picture shows, for pages that hold them under images/. */
export function pictureLinks(report: Report): string {
  return [...plotsOf(report)]
    .map(([name, plot]) => `![${/<title>(.*?)<\/title>/.exec(plot)?.[1] ?? name}](images/${name})`)
    .join("\n\n");
}

/** The report itself, as `report.json`, and its pictures. */
export function writeResults(directory: string, report: Report): void {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "report.json"), `${JSON.stringify(report, undefined, 2)}\n`);
  for (const [name, plot] of plotsOf(report)) writeFileSync(join(directory, name), plot);
}
