// Screen: what a person sees while the agent works. It is written to stderr, so that it is seen also when the report on stdout is
// piped into something.

import type { EventEnvelope } from "heddle";
import type { AgentApproval } from "heddle/agent";
import picocolors from "picocolors";
import { quoted } from "../shared/terminal.js";
import type { Approver } from "./approval.js";

export interface Heading {
  readonly tree: string;
  readonly model: string;
  readonly directory: string;
  readonly life: number;
  /** Whether this process is going to kill itself. */
  readonly willKill: boolean;
}

const { bold, dim, red, yellow } = picocolors.createColors(
  picocolors.isColorSupported && process.stderr.isTTY,
);

export class Screen {
  say(text: string): void {
    process.stderr.write(`${text}\n`);
  }

  complain(text: string): void {
    this.say(red(text));
  }

  heading({ tree, model, directory, life, willKill }: Heading): void {
    if (life > 1) return this.say(`Process ${process.pid} opens the log and goes on where it ends.`);
    this.say(bold(`Dependency triage of ${tree}`));
    this.say(
      `The agent is one durable execution; each of its turns and calls is a step. The model is ${model}.`,
    );
    this.say(`Log and proposals are in ${directory}`);
    if (willKill)
      this.say(
        yellow(
          "In the middle of its second turn it kills itself (kill -9) and is started again; --no-crash leaves that out.",
        ),
      );
  }

  killed(pid: number): void {
    this.say(yellow(`Process ${pid} is dead: kill -9 in the middle of a turn, no chance to save anything.`));
    this.say("The same program is started again on the same directory.");
  }

  /** Each step as it begins and ends. */
  event({ type, payload }: EventEnvelope): void {
    const { stepId } = payload as { readonly stepId?: string };
    if (stepId === undefined) return;
    if (type === "STEP_STARTED") this.say(dim(`  ${stepId} ...`));
    if (type === "STEP_COMPLETED") this.say(`  ${stepId} done`);
    if (type === "STEP_FAILED") this.say(red(`  ${stepId} failed`));
  }

  introduceQuestion({ introduction }: Approver): void {
    this.say(`The agent wants to write down a change, and waits for a decision. ${introduction}`);
  }

  decided({ approved, reason }: AgentApproval): void {
    this.say(approved ? "  approved" : `  declined: ${reason ?? "no reason given"}`);
  }

  stopped(tree: string, directory: string): void {
    this.say("\nStopped, and the log is closed in good order. This command goes on where it stopped:");
    this.say(`  npm run demo:agent -- ${quoted(tree)} --data ${quoted(directory)} --no-crash`);
  }
}
