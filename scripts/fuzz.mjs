// Fuzz: decoders against bytes that nobody wrote, for longer than the tests take.
//
//   node scripts/fuzz.mjs --minutes 30        random seeds, the time shared evenly between the decoders
//
// A finding is printed with its input, shrunk, and with its seed: FUZZ_SEED=... npx vitest run test/fuzz tries it again.

import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";

const { values } = parseArgs({ options: { minutes: { type: "string", default: "5" } } });
const minutes = Number(values.minutes);
if (!(minutes > 0)) {
  console.error(`--minutes is a number over 0, not ${values.minutes}`);
  process.exit(2);
}
const vitest = ["node_modules/vitest/vitest.mjs", "run", "test/fuzz"];
const env = { ...process.env, FUZZ_MINUTES: String(minutes) };
process.exit(spawnSync(process.execPath, vitest, { stdio: "inherit", env }).status ?? 1);
