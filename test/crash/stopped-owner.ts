// Stopped owner (C8): also a stopped owner is the owner, and a newer epoch comes only after its end.

import { expect } from "vitest";
import type { Child } from "./child.js";

/** Stops a host that says `holding`, has another one refused by the directory, and ends the first. */
export async function refuseWhileStopped(owner: Child, startOther: () => Child): Promise<void> {
  await owner.line((line) => line === "holding");
  owner.kill("SIGSTOP");
  const other = startOther();
  expect(await other.ended).toMatchObject({ code: 0, stderr: "" });
  expect(other.lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { what: "refused", code: "PARTITION_LOCKED" },
  ]);
  owner.kill("SIGKILL");
}
