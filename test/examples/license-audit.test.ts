// The license audit, run as users run it: real processes on real trees, killed with real kills.
//
// The reference for every killed run is a straight run over the same tree: their reports must not differ in one row.
// The proof that nothing completed ran twice comes from the program's own counter file, so that file is tested too.

import { spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { recogniseLicense } from "../../examples/license-audit/license-texts.js";
import { judge } from "../../examples/license-audit/policy.js";
import { Row, writeRowsTo } from "../../examples/license-audit/report.js";
import type { Summary } from "../../examples/license-audit/summary.js";
import { Counter } from "../../examples/shared/counter.js";
import { Example, project, type Run } from "./example.js";

let example: Example;
let scratch: string;

beforeAll(() => {
  example = new Example("license-audit");
  scratch = mkdtempSync(join(tmpdir(), "heddle-test-license-audit-"));
}, 60_000);

afterAll(() => {
  example.remove();
  rmSync(scratch, { recursive: true, force: true });
});

const run = (...args: string[]): Promise<Run> => example.run(args);

let directories = 0;
const freshDirectory = (): string => join(scratch, `data-${++directories}`);

/** Runs the audit with `--json`; stdout has to be that and nothing else. */
async function auditOf(tree: string, ...args: string[]): Promise<Summary> {
  const { code, stdout, stderr } = await run(tree, "--json", ...args);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as Summary;
}

const withData = (): string[] => ["--data", freshDirectory()];

/** Writes files, a package.json among them, each with its content or the value of its JSON. */
function writeTree(root: string, files: Record<string, unknown>): string {
  for (const [path, content] of Object.entries(files)) {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  }
  return root;
}

const MIT_TEXT = `MIT License

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
...
The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.`;

const ISC_TEXT = `Permission to use, copy, modify, and/or distribute this software for any
purpose with or without fee is hereby granted, provided that the above
copyright notice and this permission notice appear in all copies.`;

/** One package for each way to state a licence, and each way to be installed. */
function everyKind(root: string): string {
  const named = (name: string, rest: object): object => ({ name, version: "1.0.0", ...rest });
  writeTree(join(root, "node_modules"), {
    "plain/package.json": named("plain", { license: "MIT" }),
    "plain/lib/index.js": "export {};\n",
    "plain/node_modules/nested/package.json": named("nested", { license: "ISC" }),
    "nested/package.json": { name: "nested", version: "2.0.0", license: "0BSD" },
    "@scope/scoped/package.json": named("@scope/scoped", { license: "Apache-2.0" }),
    "legacy-list/package.json": named("legacy-list", { licenses: [{ type: "GPL-3.0" }, { type: "MIT" }] }),
    "legacy-object/package.json": named("legacy-object", { license: { type: "BSD-3-Clause", url: "x" } }),
    "old-name/package.json": named("old-name", { license: "Apache 2.0" }),
    "see-file/package.json": named("see-file", { license: "SEE LICENSE IN docs/terms.txt" }),
    "see-file/docs/terms.txt": MIT_TEXT,
    "see-outside/package.json": named("see-outside", {
      license: "SEE LICENSE IN ../see-file/docs/terms.txt",
    }),
    "text-only/package.json": named("text-only", {}),
    "text-only/LICENCE.md": ISC_TEXT,
    "two-texts/package.json": named("two-texts", { license: "" }),
    "two-texts/LICENSE": `${MIT_TEXT}\n\n${ISC_TEXT}`,
    "weak-copyleft/package.json": named("weak-copyleft", { license: "MPL-2.0" }),
    "exception/package.json": named("exception", { license: "GPL-2.0-only WITH Classpath-exception-2.0" }),
    "choice/package.json": named("choice", { license: "(GPL-3.0-or-later OR MIT)" }),
    "both/package.json": named("both", { license: "MIT AND AGPL-3.0-only" }),
    "denied/package.json": named("denied", { license: "GPL-3.0-or-later" }),
    "reserved/package.json": named("reserved", { license: "UNLICENSED" }),
    "silent/package.json": named("silent", {}),
    "own-words/package.json": named("own-words", { license: "Do what you like" }),
    "own-words/LICENSE": "Do what you like.",
    "broken/package.json": "{ not json",
    "mark/package.json": `\uFEFF${JSON.stringify(named("mark", { license: "MIT" }))}`,
    "odd name/package.json": named("odd name; rm -rf $HOME", { license: "MIT" }),
    "no-manifest/index.js": "",
    ".bin/plain/package.json": named("not-a-package", { license: "MIT" }),
    ".pnpm/stored@1.0.0/node_modules/stored/package.json": named("stored", { license: "MIT" }),
  });
  writeTree(join(root, "workspaces/linked"), { "package.json": named("linked", { license: "MIT" }) });
  const link = (target: string, path: string): void =>
    symlinkSync(join(root, target), join(root, "node_modules", path), "junction");
  link("workspaces/linked", "linked");
  link("node_modules/plain", "plain-again");
  link("node_modules/.pnpm/stored@1.0.0/node_modules/stored", "stored");
  link(".", "itself");
  link("nowhere", "dangling");
  return root;
}

describe("on a tree with every kind of package", () => {
  let tree: string;
  let straight: Summary;

  beforeAll(async () => {
    tree = everyKind(join(scratch, "every-kind"));
    straight = await auditOf(tree, "--no-crash", ...withData());
  });

  it("finds every package once and judges what it says about its licence", () => {
    const judged = Object.fromEntries(
      straight.rows.map(({ path, decision, license }) => [path, `${decision}: ${license}`]),
    );
    expect(judged).toEqual({
      "node_modules/.pnpm/stored@1.0.0/node_modules/stored": "allowed: MIT",
      "node_modules/@scope/scoped": "allowed: Apache-2.0",
      "node_modules/both": "denied: MIT AND AGPL-3.0-only",
      "node_modules/broken": "refused: none",
      "node_modules/choice": "allowed: (GPL-3.0-or-later OR MIT)",
      "node_modules/denied": "denied: GPL-3.0-or-later",
      "node_modules/exception": "approved: GPL-2.0-only WITH Classpath-exception-2.0",
      "node_modules/legacy-list": "allowed: GPL-3.0 OR MIT",
      "node_modules/legacy-object": "allowed: BSD-3-Clause",
      "node_modules/mark": "allowed: MIT",
      "node_modules/nested": "allowed: 0BSD",
      "node_modules/odd name": "allowed: MIT",
      "node_modules/old-name": "allowed: Apache-2.0",
      "node_modules/own-words": "refused: none",
      "node_modules/plain": "allowed: MIT",
      "node_modules/plain/node_modules/nested": "allowed: ISC",
      "node_modules/reserved": "refused: none",
      "node_modules/see-file": "allowed: MIT",
      "node_modules/see-outside": "refused: none",
      "node_modules/silent": "refused: none",
      "node_modules/text-only": "allowed: ISC",
      "node_modules/two-texts": "allowed: MIT AND ISC",
      "node_modules/weak-copyleft": "approved: MPL-2.0",
      "workspaces/linked": "allowed: MIT",
    });
  });

  it("counts and hashes a package's own files, and not those of packages inside it", () => {
    const plain = straight.rows.find(({ path }) => path === "node_modules/plain");
    expect(plain).toMatchObject({
      files: 2,
      bytes: JSON.stringify({ name: "plain", version: "1.0.0", license: "MIT" }).length + 11,
    });
    expect(plain?.sha256).toMatch(/^[0-9a-f]{64}$/);
  });

  it("reports how it went, and what a shell can run without harm", () => {
    const packages = straight.rows.length;
    expect(straight).toMatchObject({ packages, executions: packages, kills: 0, failures: [] });
    expect(straight.steps).toEqual({ completed: packages * 3, runAgainAfterCompletion: 0, cutShort: [] });
    expect(straight.rows.map(({ id }) => id).join("")).toMatch(/^[\w@/.+-]+$/);
    expect(straight.logsCommand).toMatch(/^npx heddle logs --db \S+ \S+$/);
  });

  it("gives the same rows when it kills itself half way, and runs no completed step again (C-LIF-01)", async () => {
    const killed = await auditOf(tree, ...withData());
    expect(killed.rows).toEqual(straight.rows);
    expect(killed.kills).toBe(1);
    expect(killed.steps).toMatchObject({ completed: straight.steps.completed, runAgainAfterCompletion: 0 });
  });

  it("gives the same rows after a row of kills", async () => {
    const killed = await auditOf(tree, "--kill-at", "1,9,40,90,150,200", ...withData());
    expect(killed.rows).toEqual(straight.rows);
    expect(killed.kills).toBe(6);
    expect(killed.steps).toMatchObject({ completed: straight.steps.completed, runAgainAfterCompletion: 0 });
    // The first line is the start of a step, so at least that one was cut short.
    expect(killed.steps.cutShort.length).toBeGreaterThan(0);
  });

  it("gives the same rows in partition threads with a pool, straight and killed over and over (C-LIF-01)", async () => {
    const threaded = await auditOf(tree, "--threads", "--no-crash", ...withData());
    expect(threaded.rows).toEqual(straight.rows);
    expect(threaded.steps).toEqual(straight.steps);
    const killed = await auditOf(tree, "--threads", "--kill-at", "1,40,90,150,200", ...withData());
    expect(killed.rows).toEqual(straight.rows);
    expect(killed.kills).toBe(5);
    expect(killed.steps).toMatchObject({ completed: straight.steps.completed, runAgainAfterCompletion: 0 });
    expect(killed.steps.cutShort.length).toBeGreaterThan(0);
  }, 60_000);

  it("goes on in threads with what one thread began, as long as it has the partitions", async () => {
    const [flag, directory] = withData() as [string, string];
    await auditOf(tree, "--no-crash", flag, directory);
    expect(await auditOf(tree, "--threads", "1", "--no-crash", flag, directory)).toMatchObject({
      rows: straight.rows,
      executions: 0,
    });
    const { code, stderr } = await run(tree, "--threads", "2", "--no-crash", flag, directory);
    expect(code).toBe(1);
    expect(stderr).toContain("workers.actors is 2, and ");
  });

  it("tells a person in plain words what happens, and ends with the report", async () => {
    const { code, stdout, stderr } = await run(tree, ...withData());
    expect(code, stderr).toBe(0);
    expect(stderr).toContain("Half way it kills itself (kill -9) and is started again");
    expect(stderr).toMatch(/Process \d+ is dead: kill -9/);
    expect(stderr).toMatch(/Its log: \d+ packages finished, \d+ unfinished, \d+ not begun\./);
    expect(stderr).toContain("There is no terminal to ask on, so a rule answers");
    expect(stdout).toContain("steps completed: 72, run again after completion: 0");
    expect(stdout).toContain("in-flight attempts cut short by the kill and run again:");
    expect(stdout).toContain("npx heddle logs --db ");
  });

  it("approves everything unusual with --yes", async () => {
    const { decisions } = await auditOf(tree, "--yes", "--no-crash", ...withData());
    expect(decisions).toEqual({ allowed: 15, approved: 7, refused: 0, denied: 2 });
  });

  it("finds an audit that is complete complete, and does nothing again", async () => {
    const data = withData();
    const first = await auditOf(tree, "--no-crash", ...data);
    const second = await auditOf(tree, "--no-crash", ...data);
    expect(second).toMatchObject({ rows: first.rows, steps: first.steps, executions: 0 });
  });

  it("refuses a data directory that holds the audit of another tree, and removes its own when asked", async () => {
    const [flag, directory] = withData() as [string, string];
    const small = writeTree(join(scratch, "other"), {
      "node_modules/a/package.json": { name: "a", version: "1.0.0" },
    });
    writeTree(directory, { "notes.txt": "the user's own" });
    await auditOf(small, "--no-crash", flag, directory);
    expect(await run(tree, flag, directory)).toMatchObject({ code: 2, stdout: "" });
    await auditOf(small, "--no-crash", "--no-keep", flag, directory);
    expect(existsSync(join(directory, "log"))).toBe(false);
    expect(readFileSync(join(directory, "notes.txt"), "utf8")).toBe("the user's own");

    const { stderr } = await run(small, "--no-crash", "--no-keep");
    const temporary = /^Log and report are in (.+)$/m.exec(stderr)?.[1];
    expect(temporary).toContain(tmpdir());
    expect(existsSync(temporary ?? "")).toBe(false);
  });
});

describe("killed at lines of the counter file", () => {
  it("always ends with the same rows (C-LIF-01)", async () => {
    const tree = writeTree(join(scratch, "two"), {
      "node_modules/usual/package.json": { name: "usual", version: "1.0.0", license: "MIT" },
      "node_modules/unusual/package.json": { name: "unusual", version: "1.0.0", license: "MPL-2.0" },
    });
    const straight = await auditOf(tree, "--no-crash", ...withData());
    // Two packages, three steps, three lines each. Every other line meets each kind of line; HEDDLE_AUDIT_LINES=1 takes all.
    const apart = Number(process.env["HEDDLE_AUDIT_LINES"] ?? 2);
    const points = Array.from({ length: 18 / apart }, (_, index) => index * apart + 1).values();
    const worker = async (): Promise<void> => {
      for (const point of points) {
        const killed = await auditOf(tree, "--kill-at", String(point), ...withData());
        const seen = { rows: killed.rows, kills: killed.kills, again: killed.steps.runAgainAfterCompletion };
        expect(seen, `killed at line ${point}`).toEqual({ rows: straight.rows, kills: 1, again: 0 });
        expect(killed.steps.completed, `killed at line ${point}`).toBe(6);
      }
    };
    await Promise.all([worker(), worker()]);
  }, 90_000);
});

describe("on this project's own node_modules", () => {
  it("gives the same rows with and without the kill", async () => {
    const straight = await auditOf(project, "--no-crash", ...withData());
    const killed = await auditOf(project, ...withData());
    const threaded = await auditOf(project, "--threads", ...withData());
    expect(threaded).toMatchObject({ rows: straight.rows, kills: 1 });
    expect(threaded.steps).toMatchObject({
      completed: straight.steps.completed,
      runAgainAfterCompletion: 0,
    });
    expect(straight.rows.length).toBeGreaterThan(50);
    expect(killed.rows).toEqual(straight.rows);
    expect(killed.kills).toBe(1);
    expect(killed.steps).toMatchObject({ completed: straight.steps.completed, runAgainAfterCompletion: 0 });
    expect(killed.steps.cutShort.length).toBeGreaterThan(0);
  }, 90_000);
});

describe("Ctrl-C", () => {
  it("closes the log and says how to go on; going on repeats nothing", async () => {
    // The first package is large, so the audit is still reading it when the small ones are done.
    const tree = writeTree(join(scratch, "large"), {
      "node_modules/a-large/package.json": { name: "a-large", version: "1.0.0", license: "MIT" },
      "node_modules/a-large/large.bin": "",
      ...Object.fromEntries(
        ["b", "c", "d", "e"].map((name) => [
          `node_modules/${name}/package.json`,
          { name, version: "1.0.0", license: "MIT" },
        ]),
      ),
    });
    truncateSync(join(tree, "node_modules/a-large/large.bin"), 2 ** 29);
    const directory = freshDirectory();
    // Never reaching its kill: what is tested is that the supervisor passes the signal on.
    const child = spawn(process.execPath, [example.main, tree, "--data", directory, "--kill-at", "1000"]);
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
      if (/ [1-4]\/5 packages/.test(stderr)) child.kill("SIGINT");
    });
    const code = await new Promise((resolve) => child.on("close", resolve));
    expect(stderr).toContain("Stopped, and the log is closed in good order.");
    expect(stderr).toContain(`npm start -- ${tree} --data ${directory}`);
    expect(code).toBe(130);

    const resumed = await auditOf(tree, "--data", directory, "--no-crash");
    expect(resumed.steps).toMatchObject({ completed: 15, runAgainAfterCompletion: 0 });
    expect(resumed.rows.map(({ bytes }) => bytes > 2 ** 29)).toEqual([true, false, false, false, false]);
  }, 60_000);
});

describe("the command line", () => {
  it("ends with code 2 and a word on what to do when there is no node_modules", async () => {
    const { code, stdout, stderr } = await run(scratch);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(
      `${scratch} has no node_modules. Install its packages, or name another directory.`,
    );
  });

  it("audits an empty node_modules", async () => {
    mkdirSync(join(scratch, "empty/node_modules"), { recursive: true });
    expect(await auditOf(join(scratch, "empty"), ...withData())).toMatchObject({
      packages: 0,
      kills: 0,
      rows: [],
    });
  });

  it("ends with code 2 for what it does not know, and with 0 for help", async () => {
    expect(await run("--no-such-option")).toMatchObject({ code: 2, stdout: "" });
    expect(await run("--kill-at", "soon")).toMatchObject({ code: 2, stdout: "" });
    expect(await run("--threads", "0")).toMatchObject({ code: 2, stdout: "" });
    const help = await run("--help");
    expect(help).toMatchObject({ code: 0, stderr: "" });
    expect(help.stdout).toContain("--no-crash");
  });
});

describe("the counter file", () => {
  const tallyOf = (...lines: string[]): ReturnType<Counter["tally"]> => {
    const file = join(scratch, `counter-${++directories}.log`);
    writeFileSync(file, lines.map((line) => `${line}\n`).join(""));
    return new Counter(file).tally();
  };

  it("convicts a completed step that runs again", () => {
    const tally = tallyOf(
      "1 start     a read",
      "1 finish    a read",
      "1 recorded  a read",
      "2 start     a read",
    );
    expect(tally).toEqual({ completed: 1, runAgainAfterCompletion: 1, cutShort: [] });
  });

  it("counts an attempt cut short before or after the end of its body, but not a retry", () => {
    expect(tallyOf("1 start     a read", "2 start     a read").cutShort).toEqual(["a read"]);
    expect(tallyOf("1 start     a read", "1 finish    a read", "2 start     a read").cutShort).toEqual([
      "a read",
    ]);
    expect(tallyOf("1 start     a read", "1 fail      a read", "1 start     a read").cutShort).toEqual([]);
  });
});

describe("the policy", () => {
  const kindOf = (expression: string): string => judge({ source: "package.json", expression }).kind;

  it("takes the better side of OR and the worse side of AND", () => {
    const [allowed, unusual, denied] = ["MIT", "MPL-2.0", "GPL-3.0-only"];
    expect([kindOf(`${allowed} OR ${denied}`), kindOf(`${denied} OR ${unusual}`)]).toEqual([
      "allowed",
      "unusual",
    ]);
    expect([kindOf(`${allowed} AND ${unusual}`), kindOf(`${denied} AND ${unusual}`)]).toEqual([
      "unusual",
      "denied",
    ]);
    expect(kindOf(`(${denied} AND ${allowed}) OR ${unusual}`)).toBe("unusual");
  });

  it("knows a denied family in all its forms, and lets a person weigh an exception", () => {
    for (const form of ["GPL-2.0", "GPL-2.0+", "GPL-2.0-only", "GPL-2.0-or-later"])
      expect(kindOf(form)).toBe("denied");
    expect(kindOf("GPL-2.0-or-later WITH Classpath-exception-2.0")).toBe("unusual");
    expect(kindOf("Apache-2.0 WITH LLVM-exception")).toBe("allowed");
    expect(kindOf("LicenseRef-ours")).toBe("unusual");
  });
});

describe("licence texts", () => {
  it("are recognised in packages that ship them", () => {
    const text = (path: string): string => readFileSync(join(project, "node_modules", path), "utf8");
    expect(recogniseLicense(text("zod/LICENSE"))).toBe("MIT");
    expect(recogniseLicense(text("picocolors/LICENSE"))).toBe("ISC");
    expect(recogniseLicense(text("@biomejs/biome/LICENSE-APACHE"))).toBe("Apache-2.0");
    expect(recogniseLicense("All rights reserved.")).toBeUndefined();
  });
});

describe("the step report", () => {
  it("leaves the same when it runs twice", async () => {
    const directory = mkdtempSync(join(scratch, "rows-"));
    const row = Row.parse({
      id: "@a/b@1.0.0-0",
      name: "@a/b",
      version: "1.0.0",
      path: "node_modules/@a/b",
      license: "MIT",
      decision: "allowed",
      reason: "",
      files: 1,
      bytes: 1,
      sha256: "",
    });
    const context = {
      executionId: row.id,
      workflowId: "",
      stepId: "report",
      toolId: "report",
      taskKind: "step",
      attempt: 1,
    } as const;
    const effect = writeRowsTo(directory);
    const write = (): void | Promise<void> =>
      effect.execute(row, {
        ...context,
        idempotencyKey: "",
        signal: new AbortController().signal,
        emit: () => {},
        meter: () => {},
      });
    await write();
    const once = readFileSync(join(directory, "@a+b@1.0.0-0.json"), "utf8");
    await write();
    expect(readFileSync(join(directory, "@a+b@1.0.0-0.json"), "utf8")).toBe(once);
    expect(JSON.parse(once)).toEqual(row);
  });
});
