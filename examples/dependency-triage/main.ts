// Dependency triage: an agent over a real directory. `npm run demo:agent` runs it on this project; `-- --help` says more.
//
//   agent.ts, flow.ts, triage.ts      the heddle part: the agent and its tools, the flow it is, and the app around it
//   packages.ts, model.ts             plain code: what the tools do, and which model is asked
//   approval.ts                       who decides about a change
//   options, data, screen, report     the command line, and what a person sees
//   ../shared                         the experiment: a kill half way, and a witness of what really ran

import { fileURLToPath } from "node:url";
import { hasNodeModules } from "../license-audit/scan.js";
import { Counter } from "../shared/counter.js";
import { makeTemporaryDirectory, removeData } from "../shared/data.js";
import { supervise } from "../shared/supervisor.js";
import { describe, isInteractive } from "../shared/terminal.js";
import { approveAll, byAsking, byRule } from "./approval.js";
import { openData } from "./data.js";
import { modelOf } from "./model.js";
import { type Options, readOptions } from "./options.js";
import { reportOf, reportText } from "./report.js";
import { Screen } from "./screen.js";
import { triage } from "./triage.js";

const SUCCEEDED = 0;
const FAILED = 1;
const MISUSED = 2;
const STOPPED = 130;

/** In the body of the first tool of the second turn: its start is noted, and its end never will be. */
const KILL_AT_LINE = 10;

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
  const model = modelOf(options.live ?? false, options.model);
  if (!model) {
    screen.complain("--live needs a key in ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY.");
    return MISUSED;
  }
  const { life, since = Date.now(), directory = makeTemporaryDirectory("dependency-triage") } = options;
  if (options.crash && life === undefined) {
    return supervise({
      program: fileURLToPath(import.meta.url),
      args: [...args, "--data", directory, "--since", String(since)],
      kills: 1,
      onKilled: (pid) => screen.killed(pid),
    });
  }
  return live({ options, model, directory, life: life ?? 1, since });
}

interface Life {
  readonly options: Options;
  readonly model: NonNullable<ReturnType<typeof modelOf>>;
  readonly directory: string;
  readonly life: number;
  readonly since: number;
}

/** One process's share of the run: all of it, or what is left after the kill. */
async function live({ options, model, directory, life, since }: Life): Promise<number> {
  const { tree, crash } = options;
  const data = openData(directory, tree);
  if (!data) {
    screen.complain(`${directory} holds the triage of another directory. Name another one with --data.`);
    return MISUSED;
  }
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stop.abort());
  const counter = new Counter(data.counter, crash && life === 1 ? KILL_AT_LINE : undefined);
  const approver = options.yes ? approveAll : isInteractive ? byAsking(stop.signal) : byRule;
  screen.heading({ tree, model: model.title, directory, life, willKill: counter.willKill });

  const ending = await triage({ tree, data, model, counter, approver, screen, signal: stop.signal });
  if (ending.kind === "stopped") {
    screen.stopped(tree, directory);
    return STOPPED;
  }
  const seconds = (Date.now() - since) / 1000;
  const report = reportOf(ending, {
    tree,
    data,
    model: model.title,
    kills: life - 1,
    seconds,
    calls: counter.tally(),
  });
  process.stdout.write(
    options.json ? `${JSON.stringify(report, undefined, 2)}\n` : reportText(report, options.keep),
  );
  if (!options.keep) removeData(data);
  return report.failure === undefined ? SUCCEEDED : FAILED;
}
