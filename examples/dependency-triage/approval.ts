// Approval: who decides about a change. A person at the terminal, or a rule where there is no terminal.

import type { AgentApproval } from "heddle/agent";
import { ask } from "../shared/terminal.js";
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
