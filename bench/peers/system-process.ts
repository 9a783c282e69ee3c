// The process of one system: bench/peers/in-own-process.ts starts it.

import { parseAssignment, type Reply } from "./in-own-process.js";
import { measure } from "./measurement.js";
import type { SystemModule } from "./system.js";

// Servers that a system started end with this process (they listen to "exit"), however it ends.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
// Once the parent has the reply, or is gone.
process.once("disconnect", () => process.exit());

process.send?.(await work());

async function work(): Promise<Reply> {
  const { name, module, directory, asItComes, effort } = parseAssignment(process.argv[2]);
  try {
    const loaded = (await import(module)) as SystemModule;
    const system = await loaded.open(directory, { asItComes, inFlight: Math.max(...effort.inFlight) });
    if ("skipped" in system) return { kind: "skipped", reason: system.skipped };
    const measurement = await measure(name, system, effort);
    const { version, durability, evidence, configuration } = system;
    await system.close();
    return { kind: "measured", version, durability, evidence, configuration, ...measurement };
  } catch (error) {
    return {
      kind: "failed",
      reason: error instanceof Error ? (error.stack ?? error.message) : String(error),
    };
  }
}
