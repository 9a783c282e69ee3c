// Bad input: every mistake at the boundary is a typed error with a stable code and a message that names the mistake and
// the next move. The log is as it was before; whoever was waiting goes on waiting. (C-LOG-01, C-SUS-03, general rule 4)

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import {
  type HeddleError,
  ID_BYTES_MAX,
  type LoomApp,
  ResumePayloadValidationError,
} from "../../src/index.js";
import { flow, openApp, step, temporaryDirectory, within } from "../lifecycle/world.js";

const order = flow("order", async (ctx) => ctx.suspend({ on: "Approval", correlationKey: "k" }), {
  inputSchema: z.object({ id: z.string(), lines: z.array(z.object({ count: z.number().min(1) })) }),
  resumeSchemas: { Approval: z.object({ approved: z.boolean(), by: z.object({ name: z.string() }) }) },
});
const pair = flow("pair", (ctx) =>
  ctx.parallel([
    () => ctx.suspend<number>({ on: "Twin", correlationKey: "left" }),
    () => ctx.suspend<number>({ on: "Twin", correlationKey: "right" }),
  ]),
);
const quick = flow("quick", async (_ctx, input) => input);

let app: LoomApp;
beforeEach(async () => {
  app = openApp({
    dir: temporaryDirectory(),
    flows: [order, pair, quick],
    execution: { maxValueBytes: 10_000 },
  });
  const { runtime } = app;
  await within(
    (await runtime.start(order, { id: "o", lines: [] }, { executionId: "parked" })).waitForSuspend(),
    "gate",
  );
  await within((await runtime.start(pair, 0, { executionId: "pair" })).waitForSuspend(), "gates");
  await within((await runtime.start(quick, 1, { executionId: "ended" })).result(), "result");
});

/** Everything the log says. */
async function everything(): Promise<unknown> {
  const headers = await app.runtime.list({ limit: 1_000 });
  return Promise.all(headers.map(async (header) => [header, await app.stores.eventStore.read(header.id)]));
}

/** Makes a mistake. It must be refused with this code and this message, and change nothing. */
async function mistake(code: string, message: RegExp, attempt: () => unknown): Promise<HeddleError> {
  const before = await everything();
  const error: unknown = await (async () => attempt())().then(
    () => "nothing was refused",
    (reason: unknown) => reason,
  );
  expect(error).toMatchObject({ name: expect.stringMatching(/Error$/) as string, code });
  expect((error as Error).message).toMatch(message);
  expect(await everything()).toEqual(before);
  return error as HeddleError;
}

const anyOf = (value: unknown): never => value as never;

describe("start", () => {
  it("of an unknown flow names it, and what is registered", async () => {
    const stranger = flow("stranger", async () => 0);
    await mistake(
      "FLOW_UNKNOWN",
      /stranger version 1.*Registered are: order, pair, quick.*defineConfig\(\{ flows \}\)/,
      () => app.runtime.start(stranger, 0),
    );
    const later = flow("quick", async () => 0, { version: "2" });
    await mistake("FLOW_UNKNOWN", /quick version 2.*Version 1 of it is registered/, () =>
      app.runtime.start(later, 0),
    );
  });

  it.each([[undefined], [null], ["order"], [{}], [{ definition: {} }]])(
    "of what is no flow at all (%j) says so",
    async (nothing) => {
      await mistake("FLOW_UNKNOWN", /defineFlow|registered/, () => app.runtime.start(anyOf(nothing), 0));
    },
  );

  it("with an invalid input names every issue by its path", async () => {
    const input = { id: 5, lines: [{ count: 1 }, { count: 0 }] };
    const error = await mistake("INPUT_INVALID", /input of flow order.*id: .*string.*lines\.1\.count: /, () =>
      app.runtime.start(order, anyOf(input), { executionId: "bad" }),
    );
    expect(error.details["issues"]).toEqual([
      { path: "id", message: expect.stringContaining("string") as string },
      { path: "lines.1.count", message: expect.any(String) as string },
    ]);
  });

  it("with an input the log cannot keep names the place", async () => {
    await mistake("VALUE_NOT_RECORDABLE", /deep.*1|deep\[1\]/, () =>
      app.runtime.start(quick, { deep: [0, () => 0] }),
    );
    await mistake("VALUE_TOO_LARGE", /10,?000|bytes/, () => app.runtime.start(quick, "x".repeat(10_001)));
  });

  it.each([
    ["an empty one", "", /executionId must not be empty/],
    ["one of the limit and a byte", "x".repeat(ID_BYTES_MAX + 1), /executionId is 1025 bytes.*limit is 1024/],
    [
      "one that is over the limit in bytes only",
      "\u{1F9F5}".repeat(257),
      /executionId is 1028 bytes.*limit is 1024/,
    ],
    ["half a character", "a\ud800", /well-formed/],
    ["one with a NUL", "a\0b", /NUL/],
    ["one that JavaScript would lose", "__proto__", /__proto__/],
    ["a number", 7, /executionId must be a string, not number/],
    ["null", null, /executionId must be a string, not null/],
  ])("under %s as id is refused", async (_name, id, message) => {
    await mistake("ID_INVALID", message, () => app.runtime.start(quick, 1, { executionId: anyOf(id) }));
  });

  it("under an id of exactly the limit works", async () => {
    for (const id of ["x".repeat(ID_BYTES_MAX), "\u{1F9F5}".repeat(256)]) {
      const handle = await app.runtime.start(quick, 1, { executionId: id });
      expect(await within(handle.result(), "result")).toBe(1);
      expect((await app.stores.eventStore.read(id)).length).toBe(2);
    }
  });

  it.each([
    ["a tenant that is a number, whom no budget and no kill switch would find", { actor: "ann", tenant: 42 }],
    ["a tenant without a name", { tenant: "" }],
    ["an actor that is a number", { actor: 7 }],
    ["a number", 7],
    ["a list", ["ann"]],
    ["no name", ""],
    ["null", null],
  ])("for %s is refused", async (_name, principal) => {
    await mistake("INPUT_INVALID", /principal is text, or an object whose actor and tenant are text/, () =>
      app.runtime.start(quick, 1, { principal: anyOf(principal) }),
    );
  });

  it("under a taken id is a conflict", async () => {
    await mistake("EXECUTION_CONFLICT", /parked is taken.*Choose another id/, () =>
      app.runtime.start(quick, 1, { executionId: "parked" }),
    );
  });
});

describe("resume", () => {
  const resume = (id: string, request: unknown) => () => app.runtime.resume(id, anyOf(request));
  const good = { approved: true, by: { name: "me" } };

  it("of a gate nobody opened names the open ones", async () => {
    await mistake(
      "GATE_NOT_OPEN",
      /parked does not wait for Aproval\. It waits for Approval \(gate Approval#0\)/,
      resume("parked", { eventType: "Aproval" }),
    );
    await mistake(
      "GATE_NOT_OPEN",
      /It waits for Approval \(gate Approval#0\)/,
      resume("parked", { eventType: "Approval", correlationKey: "other", payload: good }),
    );
    await mistake(
      "GATE_NOT_OPEN",
      /It waits for Approval \(gate Approval#0\)/,
      resume("parked", { eventType: "Approval", gateId: "Approval#7", payload: good }),
    );
  });

  it("with a payload its schema refuses names every issue and leaves the gate open", async () => {
    const error = await mistake(
      "RESUME_PAYLOAD_INVALID",
      /payload for Approval of execution parked.*approved: .*by\.name: .*still open/,
      resume("parked", { eventType: "Approval", payload: { approved: "yes", by: {} } }),
    );
    expect(error).toBeInstanceOf(ResumePayloadValidationError);
    expect((error as ResumePayloadValidationError).issues.map(({ path }) => path)).toEqual([
      "approved",
      "by.name",
    ]);
    await app.runtime.resume("parked", { eventType: "Approval", payload: good });
    expect(await within(app.runtime.handle("parked").result(), "result")).toEqual(good);
  });

  it("of one of several gates must say which", async () => {
    await mistake(
      "GATE_AMBIGUOUS",
      /2 open gates named Twin.*Twin#0, Twin#1.*correlationKey/,
      resume("pair", { eventType: "Twin", payload: 1 }),
    );
    await app.runtime.resume("pair", { eventType: "Twin", correlationKey: "right", payload: 2 });
    await app.runtime.resume("pair", { eventType: "Twin", gateId: "Twin#0", payload: 1 });
    expect(await within(app.runtime.handle("pair").result(), "result")).toEqual([1, 2]);
  });

  it("with a payload the log cannot keep names the place", async () => {
    await mistake(
      "VALUE_NOT_RECORDABLE",
      /callback/,
      resume("pair", { eventType: "Twin", gateId: "Twin#0", payload: { callback: () => 0 } }),
    );
    await mistake(
      "VALUE_TOO_LARGE",
      /bytes/,
      resume("pair", { eventType: "Twin", gateId: "Twin#0", payload: "x".repeat(20_000) }),
    );
  });

  it("of an execution that is not there, or has ended", async () => {
    await mistake("EXECUTION_UNKNOWN", /no execution nobody/, resume("nobody", { eventType: "Approval" }));
    await mistake(
      "EXECUTION_ENDED",
      /ended has ended \(completed\)/,
      resume("ended", { eventType: "Approval" }),
    );
  });

  it.each([
    ["no request", undefined, /eventType must be a string/],
    ["no event", {}, /eventType must be a string/],
    ["an event that is none", { eventType: 3 }, /eventType must be a string, not number/],
    ["an event over the limit", { eventType: "x".repeat(1_025) }, /eventType is 1025 bytes/],
    [
      "a request id over the limit",
      { eventType: "Approval", requestId: "x".repeat(1_025) },
      /requestId is 1025 bytes/,
    ],
  ])("with %s is refused", async (_name, request, message) => {
    await mistake("ID_INVALID", message, resume("parked", request));
  });
});

describe("cancel, handles and reading", () => {
  it("name what is not there or over", async () => {
    await mistake("EXECUTION_UNKNOWN", /no execution nobody/, () => app.runtime.cancel("nobody"));
    await mistake("EXECUTION_ENDED", /has ended \(completed\)/, () => app.runtime.cancel("ended"));
    await mistake("EXECUTION_UNKNOWN", /no execution nobody/, () => app.runtime.loadState("nobody"));
    await mistake("EXECUTION_UNKNOWN", /no execution nobody/, () =>
      app.runtime.handle("nobody").waitForCompletion(),
    );
    await mistake("EXECUTION_ENDED", /ended \(completed\) without suspending/, () =>
      app.runtime.handle("ended").waitForSuspend(),
    );
    await mistake("ID_INVALID", /executionId must not be empty/, () => app.runtime.handle(""));
    await mistake("ID_INVALID", /executionId must be a string/, () => app.runtime.cancel(anyOf(undefined)));
    await mistake("ID_INVALID", /executionId must be a string/, () => app.runtime.loadState(anyOf(7)));
    await mistake("EXECUTION_UNKNOWN", /nobody/, () => app.runtime.list({ after: "nobody" }));
  });

  it.each<[RegExp, object]>([
    [/no status parked\. There are: running, suspended/, { status: "parked" }],
    [/no status set-aside/, { status: ["running", "set-aside"] }],
    [/no status 5/, { status: 5 }],
    [/limit .* not -1/, { limit: -1 }],
    [/limit .* not NaN/, { limit: Number.NaN }],
    [/limit .* not 5/, { limit: "5" }],
  ])("a list is refused with %s", async (message, filter) => {
    await mistake("INPUT_INVALID", message, () => app.runtime.list(filter));
    await mistake("INPUT_INVALID", message, () => app.stores.eventStore.list(filter));
  });
});

describe("a flow's own mistakes fail its execution, with a code", () => {
  it.each([
    [
      "an id used twice",
      "STEP_ID_REUSED",
      /`\$\{id\}#\$\{i\}`/,
      flow("reused", async (ctx) => [
        await ctx.run(
          step("s", () => 1),
          0,
        ),
        await ctx.run(
          step("s", () => 1),
          1,
        ),
      ]),
    ],
    [
      "a foreign await",
      "FOREIGN_AWAIT",
      /into a step, ctx\.sleep or ctx\.decide/,
      flow("foreign", () => new Promise(() => {})),
    ],
    [
      "an effect nobody registered",
      "EFFECT_UNKNOWN",
      /no effect is registered as mailer.*registerEffects/,
      flow("effect", (ctx) => ctx.execute({ id: "send", toolId: "mailer" }, 0)),
    ],
    ["a result that is no value", "VALUE_NOT_RECORDABLE", /function/, flow("result", async () => () => 0)],
    [
      "a reserved event name",
      "ID_INVALID",
      /name the log uses itself/,
      flow("reserved", async (ctx) => ctx.emit("STEP_STARTED", 1)),
    ],
    [
      "a step id over the limit",
      "ID_INVALID",
      /step id is 1025 bytes/,
      flow("long", (ctx) => ctx.execute({ id: "x".repeat(1_025), toolId: "t" }, 0)),
    ],
    [
      "a sleep that is no number",
      "INPUT_INVALID",
      /sleep's duration must be a number/,
      flow("sleep", (ctx) => ctx.sleep(Number.NaN)),
    ],
  ])("%s", async (_name, code, message, bad) => {
    app.runtime.registerFlow(bad.definition, bad.runner);
    const handle = await app.runtime.start(bad, 0);
    const state = await within(handle.waitForCompletion(), "end");
    expect(state.status).toBe("failed");
    expect(state.error).toMatchObject({ code });
    expect(String(state.error)).toMatch(message);
    await expect(handle.result()).rejects.toMatchObject({ code: "EXECUTION_FAILED", cause: { code } });
  });
});

describe("a directory that cannot be used", () => {
  it("is a file", async () => {
    const path = join(temporaryDirectory(), "file");
    writeFileSync(path, "not a directory");
    const misled = openApp({ dir: path, flows: [quick] });
    await mistake("STORAGE_FAILED", /file/, () => misled.start());
  });

  it("holds something else where its log should be", async () => {
    const dir = temporaryDirectory();
    writeFileSync(join(dir, "heddle.json"), "{ half a file");
    await mistake("FORMAT_UNSUPPORTED", /heddle\.json.*Nothing was changed/, () =>
      openApp({ dir, flows: [quick] }),
    );
  });

  it("is not open yet, or not any more", async () => {
    const closed = openApp({ flows: [quick], autostart: false });
    await mistake("RUNTIME_NOT_STARTED", /call app\.start\(\)/, () => closed.runtime.start(quick, 1));
    await mistake("RUNTIME_NOT_STARTED", /call app\.start\(\)/, () => closed.runtime.handle("x").settled());
    await closed.close();
    await mistake("RUNTIME_CLOSED", /build the app again/, () => closed.runtime.start(quick, 1));
    await mistake("RUNTIME_CLOSED", /build the app again/, () => closed.start());
  });
});
