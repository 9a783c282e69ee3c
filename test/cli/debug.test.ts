// Goal: `heddle debug` tells what an execution amounts to at any of its events, as the runtime itself would tell it.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toJson } from "../../src/cli/render/json.js";
import type { ExecutionState } from "../../src/index.js";
import { heddle, jsonLines } from "./heddle.js";
import { openApp, temporaryLog, tour, writeTours } from "./written-log.js";

const log = temporaryLog();
const { dir } = log;

beforeAll(() => writeTours(dir));
afterAll(log.remove);

async function stateAt(id: string, at: number): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await heddle("debug", "--db", dir, id, "--at", String(at), "--json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return jsonLines(stdout)[0]!;
}

describe("heddle debug", () => {
  it("gives the state that the runtime loads, with --json", async () => {
    const shown = await heddle("debug", "--db", dir, "tour-waiting", "--json");
    const app = openApp(dir, [tour]);
    await app.start();
    const loaded: ExecutionState | undefined = await app.runtime.loadState("tour-waiting");
    await app.close();
    expect(jsonLines(shown.stdout)).toEqual([toJson(loaded)]);
  });

  it("folds to the event it is told, and no further", async () => {
    expect(await stateAt("tour-done", 0)).toMatchObject({
      status: "running",
      sequence: 0,
      frames: {},
      gates: {},
    });
    expect(await stateAt("tour-done", 2)).toMatchObject({
      sequence: 2,
      frames: { echo: { status: "started" } },
    });
    expect(await stateAt("tour-done", 4)).toMatchObject({
      frames: { echo: { status: "completed", output: { order: "tour-done" } } },
      decisions: {},
    });
    expect(await stateAt("tour-done", 5)).toMatchObject({ decisions: { route: "left" } });
    expect(await stateAt("tour-done", 21)).toMatchObject({
      status: "suspended",
      gates: {
        "Nobody#0": { status: "timedOut" },
        "Approval#0": { status: "open", correlationKey: "desk-7" },
      },
    });
    expect(await stateAt("tour-done", 24)).toMatchObject({
      status: "completed",
      variables: { _output: { approval: "yes" } },
    });
  });

  it("prints it for people", async () => {
    const { code, stdout } = await heddle("debug", "--db", dir, "tour-done", "--at", "21");
    const timeless = stdout
      .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}/g, "<moment>")
      .replaceAll(/[\d.]+m?s\b/g, "<span>")
      .replaceAll(/ +<span>/g, " <span>");
    expect(code).toBe(0);
    expect(timeless).toMatchInlineSnapshot(`
      "tour-done  tour@3
      status    suspended at sequence 21 of 24
      event     EXECUTION_SUSPENDED  Approval#0 waits for Approval [desk-7]
      started   <moment> UTC
      reached   <moment> UTC, after <span>
      input     { order: "tour-done" }

      Steps (3)
      STEP   STATUS     TRIES  TOOK  RESULT
      echo   completed      1 <span>  { order: "tour-done" }
      flaky  failed         2 <span>  TypeError: no good
      quota  failed         1 <span>  spent { left: 0 }

      Gates (3)
      GATE        STATUS     WAITS FOR                             PAYLOAD
      sleep#0     resolved   the time, <moment>
      Nobody#0    timed out  Nobody until <moment>
      Approval#0  open       Approval [desk-7]

      Decisions (1)
      DECISION  CHOICE
      route     "left"
      "
    `);
  });

  it("shows what a failed and a cancelled execution ended with", async () => {
    expect((await heddle("debug", "--db", dir, "tour-failed")).stdout).toMatch(
      /error +RangeError: not approved/,
    );
    expect((await heddle("debug", "--db", dir, "tour-cancelled")).stdout).toMatch(/reason +changed our mind/);
  });

  it("names the range when the event is beyond the end", async () => {
    const { code, stdout, stderr } = await heddle("debug", "--db", dir, "tour-done", "--at", "25");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toBe(
      "error: --at 25 is beyond the end of tour-done: its events have the sequences 0 to 24.\n",
    );
  });
});
