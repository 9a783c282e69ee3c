// Makes golden logs: npx tsx test/golden/regenerate.ts [name ...]
//
// Without names it makes those that are missing, and leaves the others as they are: they are the contract. What it takes to change one
// is in ARCHITECTURE.md ("Changing the format").

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lmdbStorage } from "../../src/index.js";
import { captureGolden, createTestApp } from "../../src/testing/index.js";
import { drive } from "./drive.js";
import { GOLDEN_CONFIG, GOLDEN_FLOWS, type GoldenFlow } from "./flows.js";
import { dump, type GoldenLog, ID, plain, readGolden, writeGolden } from "./golden-log.js";
import { REFUSALS } from "./refusals.js";

Error.stackTraceLimit = 0; // stacks would be those of this machine

const named = new Set(process.argv.slice(2));
const isWanted = (name: string, present: ReadonlyMap<string, unknown>): boolean =>
  named.size > 0 ? named.has(name) : !present.has(name);

async function record(golden: GoldenFlow): Promise<GoldenLog> {
  const dir = mkdtempSync(join(tmpdir(), "heddle-golden-"));
  try {
    const app = createTestApp({
      ...GOLDEN_CONFIG,
      storage: lmdbStorage({ dir, sync: "commit" }),
      clock: true,
    });
    await app.runtime.start(golden.flow, golden.input, { executionId: ID });
    const state = await drive(app, golden);
    const events = await captureGolden(app.stores.eventStore, ID);
    await app.close();
    const stored = await dump(dir);
    const directory = { ...(stored.directory as object), createdAt: "2026-01-01T00:00:00.000Z" };
    return { about: golden.about, directory, rows: stored.rows, events: plain(events), state: plain(state) };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

const logs = readGolden("logs");
for (const [name, golden] of Object.entries(GOLDEN_FLOWS)) {
  if (!isWanted(name, logs)) continue;
  writeGolden("logs", name, await record(golden));
  process.stdout.write(`logs/${name}\n`);
}

const steps = readGolden<GoldenLog>("logs").get("steps")!;
const refused = readGolden("refused");
for (const [name, { about, refusedBy, code, damage }] of Object.entries(REFUSALS)) {
  if (!isWanted(name, refused)) continue;
  const { directory, rows } = structuredClone(steps);
  const stored = { directory, rows };
  damage(stored);
  writeGolden("refused", name, { about, refusedBy, code, ...stored });
  process.stdout.write(`refused/${name}\n`);
}
