// C-CHD-01 for pool slots: executions that wait hold nothing that others need to go on. Every limit there is, is one.

import type { HeddleApp } from "heddle";
import { expect, it } from "vitest";
import { temporaryDirectory, within } from "../partitions/world.js";
import { flowOf, openApp, outsideCount } from "./world.js";

const EXECUTIONS = 12;
const ids = Array.from({ length: EXECUTIONS }, (_, n) => `patient-${n}`);
const LIMITS = {
  pool: { minThreads: 1, maxThreads: 1, callsPerThread: 1, maxQueue: 0, packet: { maxCalls: 1 } },
  execution: { maxInFlight: 1 },
};

function each<T>(run: (executionId: string) => Promise<T>, what: string): Promise<T[]> {
  return within(Promise.all(ids.map(run)), what);
}

const resultOf = (app: HeddleApp, executionId: string): Promise<unknown> =>
  app.runtime.handle(executionId).result();

it.each([
  ["as they come", 10_000, false],
  ["dropped from memory whenever they wait", 0, false],
  ["with a restart while all of them wait", 10_000, true],
])(
  `C-CHD-01: ${EXECUTIONS} executions that sleep, retry and wait at gates all finish, with every limit one: %s`,
  async (_how, maxResident, isRestarted) => {
    const { file, marks } = outsideCount();
    const dir = temporaryDirectory();
    const options = { dir, ...LIMITS, execution: { ...LIMITS.execution, maxResident } };
    let app = openApp(options);
    const start = async (executionId: string): Promise<unknown> => {
      const handle = await app.runtime.start(flowOf("patient"), { file, ms: 1 }, { executionId });
      return handle.waitForSuspend();
    };
    await each(start, "all of them wait at their gates");
    if (isRestarted) {
      await app.close();
      app = openApp(options);
    }
    // While they wait, one more has all the room there is.
    const other = await app.runtime.start(flowOf("single"), { toolId: "echo", input: "other" });
    expect(await within(other.result(), "one more")).toBe("other");
    await each((id) => app.runtime.resume(id, { eventType: "Go", payload: id }), "all of them are resumed");
    expect(await each((id) => resultOf(app, id), "all of them finish")).toEqual(
      ids.map((id) => ["before", "rested", id, "beside", "after"]),
    );
    const begun = marks().filter(({ what }) => what === "begin");
    // Four steps each, one of them twice because it failed.
    expect(begun.length).toBe(EXECUTIONS * 5);
    const { host } = await app.workers.stats();
    expect(host).toMatchObject({ executionsAtWork: 0, startsWaiting: 0 });
  },
);
