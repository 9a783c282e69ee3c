// Example: a program under examples/, compiled as its users compile it and run as they run it.

import { execFile, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const project: string = fileURLToPath(new URL("../..", import.meta.url));

export interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export class Example {
  readonly #build: string;
  /** The compiled program. */
  readonly main: string;

  /** Type errors do not matter here: `npm run check` judges types. */
  constructor(name: string) {
    // In a place of its own: other tests compile the examples as well, and may do so while ours run.
    mkdirSync(join(project, "build"), { recursive: true });
    this.#build = mkdtempSync(join(project, `build/${name}-`));
    this.main = join(this.#build, `examples/${name}/main.js`);
    const tsc = join(project, "node_modules/typescript/bin/tsc");
    const compiled = spawnSync(
      process.execPath,
      [tsc, "-p", "tsconfig.examples.json", "--outDir", this.#build, "--sourceMap", "false"],
      { cwd: project, encoding: "utf8" },
    );
    if (!existsSync(this.main)) throw new Error(`The example was not compiled: ${compiled.stdout}`);
  }

  /** Runs it to its end. A code of -1: it was killed. */
  run(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Run> {
    const options = { maxBuffer: 64 * 1024 * 1024, env: { ...process.env, ...env } };
    return new Promise((resolve) => {
      execFile(process.execPath, [this.main, ...args], options, (error, stdout, stderr) => {
        resolve({ code: typeof error?.code === "number" ? error.code : error ? -1 : 0, stdout, stderr });
      });
    });
  }

  remove(): void {
    rmSync(this.#build, { recursive: true, force: true });
  }
}
