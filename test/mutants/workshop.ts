// Workshop: a copy of the tree in which mutants are made and the suite is run on them. The tree itself is never touched.
//
// Owns       the copy, and the run that is under way in it, until `close`. Installed packages are linked, everything else is copied and
//            built there.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, relative } from "node:path";
import { type Mutant, mutated } from "./mutant.js";

/** The first test that failed, or undefined when all of them passed. */
export interface SuiteRun {
  readonly failed: string | undefined;
  readonly file: string | undefined;
}

/** Made by builds and runs, or not of the tree. */
const LEFT_BEHIND = /^(?:node_modules|dist|dist\..*|build|coverage|\.git|\.data)$/;
/** A mutant may wait for ever; so long a run has noticed it. */
const RUN_MINUTES_MAX = 20;

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

export class Workshop {
  readonly #dir = mkdtempSync(join(tmpdir(), "heddle-mutants-"));
  #running: ChildProcess | undefined;

  constructor(root: string) {
    cpSync(root, this.#dir, { recursive: true, filter: (path) => !LEFT_BEHIND.test(basename(path)) });
    symlinkSync(join(root, "node_modules"), join(this.#dir, "node_modules"), "junction");
  }

  close(): void {
    this.#running?.kill();
    rmSync(this.#dir, { recursive: true, force: true });
  }

  /**
   * Runs tests with the rule of a mutant broken, or none, until the first of them fails.
   *
   * @param files files of tests, or `--exclude=` and what to leave out of the whole suite
   */
  async test(files: readonly string[], mutant?: Mutant): Promise<SuiteRun> {
    if (!mutant) return this.#test(files);
    const path = join(this.#dir, mutant.file);
    const source = readFileSync(path, "utf8");
    writeFileSync(path, mutated(mutant, source));
    try {
      return await this.#test(files);
    } finally {
      writeFileSync(path, source);
    }
  }

  /** The setup of the suite builds what has changed. */
  async #test(files: readonly string[]): Promise<SuiteRun> {
    const outputFile = join(this.#dir, "mutants.log");
    rmSync(outputFile, { force: true });
    const vitest = ["node_modules/vitest/vitest.mjs", "run", ...files, "--bail=1", "--reporter=json"];
    const running = spawn(process.execPath, [...vitest, `--outputFile=${outputFile}`], {
      cwd: this.#dir,
      stdio: "ignore",
      timeout: RUN_MINUTES_MAX * 60_000,
    });
    this.#running = running;
    const [code] = (await once(running, "exit")) as [number | null];
    this.#running = undefined;
    if (code === 0) return { failed: undefined, file: undefined };
    if (code === null) return { failed: `no end within ${RUN_MINUTES_MAX} minutes`, file: files[0] };
    return (
      this.#firstFailure(outputFile) ?? { failed: `vitest ended with exit code ${code}`, file: undefined }
    );
  }

  #firstFailure(outputFile: string): SuiteRun | undefined {
    const { testResults } = JSON.parse(readFileSync(outputFile, "utf8")) as Report;
    for (const { name, message, status, assertionResults } of testResults) {
      const file = relative(this.#dir, name);
      const failed = assertionResults.find((test) => test.status === "failed");
      if (failed) return { failed: failed.fullName, file };
      // Then it says nothing of the rule.
      if (status === "failed") throw new Error(`${file} did not even load: ${message}`);
    }
    return undefined;
  }
}
