// The process of one side: bench/harness/own-process.ts starts it.

import { type SideName, serveSamples } from "./harness/own-process.js";
import { questions } from "./questions/index.js";

const { question, side, effort } = JSON.parse(process.argv[2] ?? "") as SideName;
const found = questions.find(({ id }) => id === question);
if (!found?.sampler) throw new Error(`${question} has no sides with processes of their own.`);
serveSamples(found.sampler(side, effort));
