// The process of one side: bench/harness/own-process.ts starts it.

import { type SideName, serveSamples } from "./harness/own-process.js";
import { questions } from "./questions/index.js";

const { question, side, effort, directory } = JSON.parse(process.argv[2] ?? "") as SideName;
const found = questions.find(({ id }) => id === question);
if (directory !== undefined)
  serveSamples(Promise.resolve(async () => found?.opener?.(side, effort, directory)));
else if (found?.sampler && side !== "before") serveSamples(found.sampler(side, effort));
else throw new Error(`${question} has no sides with processes of their own.`);
