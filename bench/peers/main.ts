// The comparison: `npm run bench:peers`. What it measures, and what its figures do not say: docs/performance.md.

import { execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { FAILED, runCommand } from "../command.js";
import { describeMachine } from "../harness/machine.js";
import { install, isInstalled, nodeFor } from "./folder.js";
import { inOwnProcess, type Reply } from "./in-own-process.js";
import { HELP, type PeerOptions, readOptions } from "./options.js";
import { presentPeers, told } from "./presentation.js";
import type { PeerRow } from "./report.js";
import { quick, type SystemEntry } from "./systems.js";

await runCommand(readOptions, HELP, main);

async function main(options: PeerOptions): Promise<number> {
  const installed = prepareFolder(options);
  const machine = describeMachine(); // After the installation and before all else: the load it reads is the others' load.
  const node = nodeFor(options.folder) ?? process.execPath;
  const rows: PeerRow[] = [];
  for (const entry of options.chosen) {
    const reply = await measured(entry, node, installed, options);
    const row = { name: entry.name, ...reply };
    rows.push(row);
    console.error(told(row));
  }
  const report = {
    format: 1,
    date: new Date().toISOString(),
    quick: options.quick,
    node: versionOf(node),
    machine,
    rows,
  } as const;
  console.log(presentPeers(report, options.markdown ? "markdown" : "text"));
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(report, undefined, 2)}\n`);
  return rows.some(({ kind }) => kind === "failed") ? FAILED : 0;
}

/** Whether the packages are there afterwards. */
function prepareFolder({ chosen, folder, install: wanted }: PeerOptions): boolean {
  if (isInstalled(folder)) return true;
  if (!wanted || chosen.every(({ home }) => home === "here")) return false;
  console.error(
    `Installing the packages of ${folder} (some 600 MB, in that folder only; --no-install does without):`,
  );
  install(folder);
  return true;
}

async function measured(
  entry: SystemEntry,
  node: string,
  installed: boolean,
  options: PeerOptions,
): Promise<Reply> {
  const { name, home, file = name, asItComes = false } = entry;
  const effort = options.quick ? quick(entry.effort) : entry.effort;
  if (home === "here") {
    return inOwnProcess(node, {
      name,
      effort,
      asItComes,
      module: new URL(`./${file}.js`, import.meta.url).href,
    });
  }
  if (!installed)
    return { kind: "skipped", reason: "its packages are not installed; run without --no-install" };
  if (nodeFor(options.folder) === undefined) {
    return {
      kind: "skipped",
      reason: "no Node from 22.13 on was found, and the packages bring none for this machine",
    };
  }
  const path = join(options.folder, `${file}.mjs`);
  if (!existsSync(path)) return { kind: "skipped", reason: `${path} is not there` };
  return inOwnProcess(node, { name, effort, asItComes, module: pathToFileURL(path).href });
}

function versionOf(node: string): string {
  return execFileSync(node, ["--version"], { encoding: "utf8" }).trim().slice(1);
}
