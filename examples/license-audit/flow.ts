// The flow: what happens to one package. One execution of it runs for every package of the audited tree.
//
// Between any two lines of it anything may happen: the process is killed, the power fails, the person who has to approve
// a licence goes on holiday. The flow goes on at the line it had reached, with the results it had.

import { defineFlow, flow$, handler$, step$ } from "heddle";
import { z } from "zod";
import { Approval } from "./approval.js";
import { Contents } from "./contents.js";
import { LicenseFinding } from "./license.js";
import { judge, Verdict } from "./policy.js";
import { decided, decidedBy, Row } from "./report.js";
import { Package } from "./scan.js";

/**
 * Reads and hashes all files of the package and finds its licence. A step without a handler runs the effect of its name,
 * which the app provides: here, or in a pool of threads.
 */
const read = step$({
  id: "read",
  inputSchema: Package,
  outputSchema: Contents,
  retry: { maxAttempts: 3 }, // somebody may be installing packages right now
});

/** Holds the licence against the policy. */
const judgeLicense = step$({
  id: "judge",
  inputSchema: LicenseFinding,
  outputSchema: Verdict,
  handler: handler$(judge),
});

/** Writes the package's row. */
const report = step$({ id: "report", inputSchema: Row, outputSchema: z.void() });

export const auditPackage = defineFlow(
  flow$({
    id: "audit-package",
    version: "1",
    inputSchema: Package,
    outputSchema: Row,
    steps: [read, judgeLicense, report],
    resumeSchemas: { LicenseApproval: Approval },
  }),
  async (ctx, pkg) => {
    const { license, ...contents } = await ctx.run(read, pkg);
    const verdict = await ctx.run(judgeLicense, license);
    const decision =
      verdict.kind === "unusual"
        ? decidedBy(await ctx.suspend<Approval>({ on: "LicenseApproval" }), verdict)
        : decided(verdict);
    const { name, version, path } = pkg;
    const row = { id: ctx.executionId, name, version, path, ...contents, ...decision };
    await ctx.run(report, row);
    return row;
  },
);
