// Policy: which licences this project accepts. Change the two lists to make it yours; everything that is on neither is
// unusual, and somebody has to approve it.

import parseSpdx, { type Info, type LicenseInfo } from "spdx-expression-parse";
import { z } from "zod";
import type { LicenseFinding } from "./license.js";

const ALLOWED = new Set([
  "0BSD",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "CC0-1.0",
  "CC-BY-4.0",
  "ISC",
  "MIT",
  "MIT-0",
  "Python-2.0",
  "Unlicense",
  "Zlib",
]);

/** A name stands for its `-only` and `-or-later` forms too. */
const DENIED = new Set([
  "AGPL-1.0",
  "AGPL-3.0",
  "BUSL-1.1",
  "CC-BY-NC-4.0",
  "CC-BY-NC-SA-4.0",
  "GPL-1.0",
  "GPL-2.0",
  "GPL-3.0",
  "SSPL-1.0",
]);

const Judged = z.object({
  /** The licence as an SPDX expression, or "none". */
  license: z.string(),
  reason: z.string(),
});
export const Verdict = z.discriminatedUnion("kind", [
  Judged.extend({ kind: z.enum(["allowed", "denied"]) }),
  Judged.extend({ kind: z.literal("unusual") }),
]);
export type Verdict = z.infer<typeof Verdict>;

/** The body of the step `judge`. */
export function judge(finding: LicenseFinding): Verdict {
  if (finding.source === "none") return { kind: "unusual", license: "none", reason: finding.found };
  return { ...judgeExpression(parseSpdx(finding.expression)), license: finding.expression };
}

type Judgement = Pick<Verdict, "kind" | "reason">;

function judgeExpression(expression: Info): Judgement {
  if (!("conjunction" in expression)) return judgeLicense(expression);
  const sides = [judgeExpression(expression.left), judgeExpression(expression.right)] as const;
  const [better, worse] = rank(sides[0]) <= rank(sides[1]) ? sides : ([sides[1], sides[0]] as const);
  return expression.conjunction === "or" ? better : worse; // OR leaves us the choice, AND holds us to both
}

function rank({ kind }: Judgement): number {
  return ["allowed", "unusual", "denied"].indexOf(kind);
}

function judgeLicense({ license, exception }: LicenseInfo): Judgement {
  const family = license.replace(/-(only|or-later)$/, "");
  if (ALLOWED.has(license))
    return { kind: "allowed", reason: `${license} is on the list of allowed licences` };
  if (!DENIED.has(family)) return { kind: "unusual", reason: `${license} is on neither list of the policy` };
  // An exception gives back some of what the licence takes. Whether that is enough is not for a list to say.
  if (exception !== undefined)
    return { kind: "unusual", reason: `${license} is denied, but ${exception} may change that` };
  return { kind: "denied", reason: `${license} is on the list of denied licences` };
}
