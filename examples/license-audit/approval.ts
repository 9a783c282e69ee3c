// Approval: who resolves the gate `LicenseApproval`. A person at the terminal, or a rule where there is no terminal.

import { userInfo } from "node:os";
import { z } from "zod";
import { ask } from "../shared/terminal.js";
import type { Verdict } from "./policy.js";

/** What the gate delivers. heddle checks it before anything is recorded. */
export const Approval = z.object({ approved: z.boolean(), by: z.string() });
export type Approval = z.infer<typeof Approval>;

/** What has to be decided. */
export interface Question {
  readonly name: string;
  readonly path: string;
  readonly verdict: Verdict;
}

export interface Approver {
  /** How it decides, in words for the screen. */
  readonly introduction: string;
  /** Undefined when nobody wants to decide now: the gate stays open and can be answered at any time later. */
  decide(question: Question): Promise<Approval | undefined>;
}

export const byRule: Approver = {
  introduction:
    "There is no terminal to ask on, so a rule answers: what has an SPDX name is approved, anything else is refused.",
  async decide({ verdict }) {
    return { approved: verdict.license !== "none", by: "the rule for runs without a terminal" };
  },
};

export const approveAll: Approver = {
  introduction: "All of them are approved, because of --yes.",
  async decide() {
    return { approved: true, by: "--yes" };
  },
};

/** Asks on the terminal. Aborting `signal` ends a question that is being asked. */
export function byAsking(signal: AbortSignal): Approver {
  const by = userInfo().username;
  let approvesRest = false;
  return {
    introduction: "Take your time: a suspended execution waits in the log for as long as it takes.",
    async decide({ name, path, verdict }) {
      const question = [
        `\n  ${name} (${path})`,
        `  ${verdict.license}: ${verdict.reason}`,
        "  Approve? [y]es, [n]o, [a]ll of the rest, [l]ater: ",
      ].join("\n");
      while (!approvesRest) {
        const answer = await ask(question, signal);
        const letter = answer?.trim().toLowerCase().at(0);
        if (answer === undefined || letter === "l") return undefined;
        if (letter === "y" || letter === "n") return { approved: letter === "y", by };
        approvesRest = letter === "a";
      }
      return { approved: true, by };
    },
  };
}
