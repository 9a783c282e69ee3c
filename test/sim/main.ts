// npm run sim: as many seeds as are asked for, over as many processes as there are cores. One that does not hold is printed with
// the least that shows it, and the command that runs it again.

import { fork } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { lineOf } from "../../src/testing/sim/trace.js";
import { judge, play, report, type Scene, sceneOf } from "./seed.js";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "1000" },
    from: { type: "string", default: "1" },
    seed: { type: "string" },
    scene: { type: "string" },
    jobs: { type: "string", default: String(availableParallelism()) },
    every: { type: "string", default: "1" },
  },
});

const first = Number(values.seed ?? values.from);
const end = values.seed === undefined ? first + Number(values.seeds) : first + 1;
const jobs = values.seed === undefined ? Number(values.jobs) : 1;

if (values.scene !== undefined) await replay(JSON.parse(values.scene) as Scene);
else if (jobs > 1) await share();
else await work(Number(values.every));

/** Each process takes every n-th seed. */
async function share(): Promise<void> {
  const begun = process.hrtime.bigint();
  const codes = await Promise.all(
    Array.from({ length: jobs }, (_, index) => {
      const args = ["--from", String(first + index), "--seeds", String(end - first - index)];
      const child = fork(fileURLToPath(import.meta.url), [...args, "--jobs", "1", "--every", String(jobs)]);
      return new Promise<number>((resolve) => child.on("exit", (code) => resolve(code ?? 1)));
    }),
  );
  const seconds = Number((process.hrtime.bigint() - begun) / 1_000_000n) / 1_000;
  const failed = codes.some((code) => code !== 0);
  say(`${end - first} seeds in ${seconds.toFixed(0)} s: ${failed ? "not clean" : "clean"}`);
  process.exitCode = failed ? 1 : 0;
}

/** Shows all of it. */
async function replay(scene: Scene): Promise<void> {
  const { entries, violation } = await play(scene);
  for (const entry of entries) say(lineOf(entry));
  say(violation?.message ?? "It holds.");
  process.exitCode = violation ? 1 : 0;
}

async function work(every: number): Promise<void> {
  for (let seed = first; seed < end; seed += every) {
    const finding = await judge(sceneOf(seed));
    if (!finding) continue;
    say(report(finding));
    process.exitCode = 1;
    return;
  }
  if (values.seed !== undefined) say(`Seed ${first} holds.`);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
