// InOwnProcess: one system is measured in a process that is there for it alone.

import { fork } from "node:child_process";
import { once } from "node:events";
import { freshDirectory, removeDirectory } from "../harness/scratch.js";
import type { Effort, Measurement } from "./measurement.js";
import type { OpenSystem } from "./system.js";

export interface Assignment {
  readonly name: string;
  /** The URL of its SystemModule. */
  readonly module: string;
  readonly directory: string;
  readonly asItComes: boolean;
  readonly effort: Effort;
}

type Told = Pick<OpenSystem, "version" | "durability" | "evidence" | "configuration">;
export type Measured = { readonly kind: "measured" } & Told & Measurement;
export type Reply =
  | Measured
  | { readonly kind: "skipped"; readonly reason: string }
  | { readonly kind: "failed"; readonly reason: string };

const ENTRY = new URL("./system-process.js", import.meta.url);
const PATIENCE_MS = 140_000;

/** `node`: the program the process runs on. */
export async function inOwnProcess(node: string, work: Omit<Assignment, "directory">): Promise<Reply> {
  const directory = freshDirectory();
  const assignment: Assignment = { ...work, directory };
  const child = fork(ENTRY, [JSON.stringify(assignment)], {
    execPath: node,
    execArgv: ["--disable-warning=ExperimentalWarning"],
    env: { ...process.env, NODE_ENV: "production" },
    // What a system prints is no part of the tables.
    stdio: ["ignore", process.stderr, process.stderr, "ipc"],
  });
  const ended = once(child, "exit");
  const timer = setTimeout(() => child.kill(), PATIENCE_MS);
  const [reply] = (await Promise.race([once(child, "message"), ended])) as [Reply | number | null];
  if (child.connected) child.disconnect();
  await ended;
  clearTimeout(timer);
  removeDirectory(directory);
  if (typeof reply === "object" && reply !== null) return reply;
  return { kind: "failed", reason: `Its process ended without an answer, within ${PATIENCE_MS / 1_000} s.` };
}

export function parseAssignment(text: string | undefined): Assignment {
  return JSON.parse(text ?? "") as Assignment;
}
