// License audit: the first heddle program to read. `npm start` runs it on this project; `npm start -- --help` says more.
//
//   flow.ts, audit.ts                          the heddle part: what happens to one package, and the app around it
//   effects.ts, threads.ts, thread-*.ts        what steps run, and with --threads the modules that threads load
//   scan, contents, license, policy, report,
//   approval                                   plain code that the steps and the app call
//   options, data, screen, summary             the command line, and what a person sees
//   ../shared                                  the experiment: a kill half way, and a witness of what really ran

import { fileURLToPath } from "node:url";
import { Counter, LINES_PER_STEP } from "../shared/counter.js";
import { makeTemporaryDirectory, removeData } from "../shared/data.js";
import { supervise } from "../shared/supervisor.js";
import { describe, isInteractive, quoted } from "../shared/terminal.js";
import { approveAll, byAsking, byRule } from "./approval.js";
import { audit } from "./audit.js";
import { openData } from "./data.js";
import { auditPackage } from "./flow.js";
import { type Options, readOptions } from "./options.js";
import { readRows } from "./report.js";
import { executionIdOf, findPackages, hasNodeModules } from "./scan.js";
import { Screen } from "./screen.js";
import { summarise } from "./summary.js";
import { summaryText } from "./summary-text.js";

const SUCCEEDED = 0;
const FAILED = 1;
const MISUSED = 2;
const STOPPED = 130;

const args = process.argv.slice(2);
const screen = new Screen();
process.exitCode = await main(readOptions(args)).catch((error: unknown) => {
  screen.complain(describe(error));
  return FAILED;
});

async function main(options: Options): Promise<number> {
  if (!(await hasNodeModules(options.tree))) {
    screen.complain(`${options.tree} has no node_modules. Install its packages, or name another directory.`);
    return MISUSED;
  }
  const { life, since = Date.now(), directory = makeTemporaryDirectory("license-audit") } = options;
  if (options.crash && life === undefined) {
    return supervise({
      program: fileURLToPath(import.meta.url),
      args: [...args, "--data", directory, "--since", String(since)],
      kills: options.killAt?.length ?? 1,
      onKilled: (pid) => screen.killed(pid),
    });
  }
  return live(options, { directory, life: life ?? 1, since });
}

interface Life {
  readonly directory: string;
  readonly life: number;
  readonly since: number;
}

/** One process's share of the audit: all of it, or what is left between two kills. */
async function live(options: Options, { directory, life, since }: Life): Promise<number> {
  const { tree, crash } = options;
  const data = openData(directory, tree);
  if (!data) {
    screen.complain(`${directory} holds the audit of another directory. Name another one with --data.`);
    return MISUSED;
  }
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stop.abort());

  const packages = await findPackages(tree);
  const halfWay = Math.ceil((packages.length * auditPackage.definition.steps.length * LINES_PER_STEP) / 2);
  const counter = new Counter(data.counter, crash ? (options.killAt ?? [halfWay])[life - 1] : undefined);
  const approver = options.yes ? approveAll : isInteractive ? byAsking(stop.signal) : byRule;
  screen.heading({ tree, packages: packages.length, directory, life, willKill: counter.willKill });

  const { threads } = options;
  const ending = await audit({ packages, data, counter, approver, screen, threads, signal: stop.signal });
  if (ending.kind === "stopped") {
    const where = threads === undefined ? "" : ` --threads ${threads}`;
    const again = `npm start -- ${quoted(tree)} --data ${quoted(directory)}${where}`;
    screen.stopped(crash ? again : `${again} --no-crash`);
    return STOPPED;
  }
  const { ended, failures } = ending;
  const executions = ended.filter(({ updatedAt }) => updatedAt >= since).length;
  const rows = await readRows(data.rows, packages.map(executionIdOf));
  const seconds = (Date.now() - since) / 1000;
  const facts = { tree, rows, failures, executions, seconds, kills: life - 1, steps: counter.tally() };
  const summary = summarise(facts, data);
  if (options.json) process.stdout.write(`${JSON.stringify(summary, undefined, 2)}\n`);
  else process.stdout.write(summaryText(summary, options.keep));
  if (!options.keep) removeData(data);
  return rows.length === packages.length ? SUCCEEDED : FAILED;
}
