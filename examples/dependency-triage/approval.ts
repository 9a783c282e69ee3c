// Approval: who decides about a change. A person at the terminal, or a rule where there is no terminal.

import { createInterface } from "node:readline/promises";
import type { AgentApproval } from "heddle/agent";
import type { Change } from "./agent.js";

export interface Approver {
  /** How it decides, in words for the screen. */
  readonly introduction: string;
  /** Undefined when nobody wants to decide now: the gate stays open and can be answered at any time later. */
  decide(change: Change): Promise<AgentApproval | undefined>;
}

export const byRule: Approver = {
  introduction:
    "There is no terminal to ask on, so a rule answers: pinning and upgrading is approved, anything else declined.",
  async decide({ change }) {
    return change === "pin" || change === "upgrade"
      ? { approved: true }
      : { approved: false, reason: "without a person, packages are neither removed nor replaced" };
  },
};

export const approveAll: Approver = {
  introduction: "It is approved, because of --yes.",
  async decide() {
    return { approved: true };
  },
};

/** Asks on the terminal. Aborting `signal` ends a question that is being asked. */
export function byAsking(signal: AbortSignal): Approver {
  return {
    introduction: "Take your time: a suspended execution waits in the log for as long as it takes.",
    async decide({ name, change, reason }) {
      const question = `\n  ${change} ${name}: ${reason}\n  Approve? [y]es, [n]o, [l]ater: `;
      for (;;) {
        const answer = await ask(question, signal);
        const letter = answer?.trim().toLowerCase().at(0);
        if (answer === undefined || letter === "l") return undefined;
        if (letter === "y") return { approved: true };
        if (letter === "n") return { approved: false, reason: "somebody at the terminal said no" };
      }
    },
  };
}

/** The answer, or undefined when the input ended or `signal` was aborted first. */
async function ask(question: string, signal: AbortSignal): Promise<string | undefined> {
  if (signal.aborted) return undefined;
  // Not a "terminal" for readline: it would take Ctrl-C for itself, and the program could not close its log.
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  const closed = new Promise<undefined>((resolve) => lines.once("close", () => resolve(undefined)));
  const close = (): void => lines.close();
  signal.addEventListener("abort", close);
  try {
    return await Promise.race([lines.question(question), closed]);
  } finally {
    signal.removeEventListener("abort", close);
    close();
  }
}
