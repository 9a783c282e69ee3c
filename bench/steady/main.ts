// The steady load: `npm run bench:steady`. One-step executions arrive by a schedule for as long as one wants; each second is written down,
// and at the end it is told whether memory and times stayed the same.

import { mkdirSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { defineConfig, lmdbStorage } from "heddle";
import { runCommand, UsageError } from "../command.js";
import { holdingsOf } from "../harness/holdings.js";
import { load } from "../harness/load.js";
import { describeMachine, versions } from "../harness/machine.js";
import { arriveBySchedule } from "../harness/open-load.js";
import { freshDirectory, removeDirectory } from "../harness/scratch.js";
import { orderOf, type Receipt } from "../harness/side.js";
import { courseCurves } from "../plots/row-curves.js";
import { chainFlow, checked } from "../sides/flows.js";
import { placeOf } from "../sides/heddle.js";
import { HELP, readSteadyOptions, type SteadyOptions } from "./options.js";
import { type Second, Window } from "./second.js";
import { courseOf, presentSteady, type SteadyReport, trendsOf } from "./steady-report.js";

const IN_FLIGHT = 1_000;
/** Enough for the compiler, and for the rate and the bytes an execution to be believed. */
const TRIAL_EXECUTIONS = 40_000;
const SHORT_TRIAL_EXECUTIONS = 2_000;
const SHORT_MINUTES = 1;
/** Of the disk's room, for what else is written to it. */
const ROOM_TAKEN_MAX = 0.9;
const GREW = 1;

await runCommand(readSteadyOptions, HELP, main);

async function main(options: SteadyOptions): Promise<number> {
  const machine = describeMachine();
  const directory = freshDirectory();
  const measured = await run(directory, options);
  removeDirectory(directory);
  const report: SteadyReport = {
    format: 1,
    date: new Date().toISOString(),
    versions: versions(),
    machine,
    sync: options.sync,
    minutes: options.minutes,
    ...measured,
    trends: trendsOf(measured.seconds),
    course: courseOf(measured.seconds),
  };
  mkdirSync(options.out, { recursive: true });
  writeFileSync(join(options.out, "steady.json"), `${JSON.stringify(report, undefined, 2)}\n`);
  const title = `${Math.round(report.perSecond).toLocaleString("en")} one-step executions a second for ${report.minutes} minutes, ${report.sync}`;
  writeFileSync(join(options.out, "bench-steady.svg"), courseCurves(title, report.course, report));
  console.log(presentSteady(report));
  return report.trends.some(({ verdict }) => verdict === "grows") ? GREW : 0;
}

async function run(
  directory: string,
  { sync, minutes, percent, rate }: SteadyOptions,
): Promise<Pick<SteadyReport, "perSecond" | "most" | "executions" | "seconds">> {
  const flow = chainFlow(1, checked);
  const app = defineConfig({ storage: lmdbStorage({ dir: directory, sync }), flows: [flow] });
  await app.start();
  const execute = async (n: number): Promise<Receipt> => (await app.runtime.start(flow, orderOf(n))).result();
  const dataFile = join(placeOf(directory).path, "data.mdb");

  const trial = minutes < SHORT_MINUTES ? SHORT_TRIAL_EXECUTIONS : TRIAL_EXECUTIONS;
  const emptyBytes = statSync(dataFile).size;
  const { elapsedMs } = await load(execute, { executions: trial, inFlight: IN_FLIGHT });
  const most = (trial * 1_000) / elapsedMs;
  const perSecond = rate ?? (most * percent) / 100;
  const executions = Math.ceil(perSecond * minutes * 60);
  const bytesEach = (statSync(dataFile).size - emptyBytes) / trial;
  expectRoom(directory, executions * bytesEach);

  const seconds: Second[] = [];
  const window = new Window();
  const began = performance.now();
  const looking = setInterval(() => {
    seconds.push(window.look((performance.now() - began) / 1_000, dataFile));
  }, 1_000);
  const failures: unknown[] = [];
  const follow = async (n: number, scheduledMs: number): Promise<void> => {
    window.underWay++;
    const receipt = await execute(n).finally(() => window.underWay--);
    window.ended(performance.now() - scheduledMs);
    if (!receipt.ok || receipt.n !== n) throw new Error(`Execution ${n} gave ${JSON.stringify(receipt)}.`);
  };
  await arriveBySchedule({ perSecond, executions }, (n, scheduledMs) => {
    follow(n, scheduledMs).catch((error: unknown) => void failures.push(error));
  });
  while (window.underWay > 0) await nextTurn();
  clearInterval(looking);
  await app.close();
  if (failures.length > 0) throw failures[0];
  const { headers } = await holdingsOf(placeOf(directory));
  if (headers !== trial + executions)
    throw new Error(`The log has ${headers} executions of ${trial + executions}.`);
  return { perSecond, most, executions, seconds };
}

function expectRoom(directory: string, neededBytes: number): void {
  const { bavail, bsize } = statfsSync(directory);
  if (neededBytes <= bavail * bsize * ROOM_TAKEN_MAX) return;
  const gigabytes = (bytes: number): string => (bytes / 1e9).toFixed(0);
  throw new UsageError(
    `The log would take ${gigabytes(neededBytes)} GB, and there are ${gigabytes(bavail * bsize)} GB: lower --rate or --percent, shorten ` +
      "--minutes, or set TMPDIR to a larger disk.",
  );
}
