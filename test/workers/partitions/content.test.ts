// Content that lies in the partition of one thread and is cited from that of another.

import { expect, it } from "vitest";
import { flowOf, openApp, temporaryDirectory, within } from "./world.js";

const IDS = ["a", "b", "c", "d", "e", "f", "g", "h"];

it("content of an earlier opening is held on to by logs of any thread, also where no claim check is configured", async () => {
  const dir = temporaryDirectory();
  const before = openApp({ dir, workers: { actors: 0, app: undefined } });
  await before.start();
  const { ref } = await before.stores.contentStore.put("evidence");
  await before.close();

  const app = openApp({ dir });
  for (const executionId of IDS) {
    const handle = await app.runtime.start(flowOf("values"), executionId, { executionId });
    await within(handle.waitForSuspend(), "the gate");
    await app.runtime.resume(executionId, { eventType: "Value", payload: { evidence: ref } });
    await within(handle.result(), executionId);
  }
  expect(await app.stores.contentStore.references(ref)).toEqual({ executions: IDS.length, isPinned: true });
  await app.close();
});
