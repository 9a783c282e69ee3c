// heddle, in the manner of the others here: one flow of one step, everything flushed.

import { HEDDLE_VERSION } from "heddle";
import { versions } from "../harness/machine.js";
import { heddle } from "../sides/heddle.js";
import type { OpenSystem } from "./system.js";

export async function open(directory: string): Promise<OpenSystem> {
  const session = await heddle({ steps: 1, sync: "flush" }).open(directory);
  return {
    version: `${HEDDLE_VERSION}, lmdb ${versions().lmdb}`,
    durability: "flush",
    evidence: 'sync "flush"',
    configuration: "defaults; one partition on the thread of the program, zod schemas checked",
    run: ({ n }) => session.run(n),
    close: () => session.close(),
  };
}
