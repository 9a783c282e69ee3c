// Who may do what with executions: every door, every verdict, and nothing in the log where the answer is no.

import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import {
  defineConfig,
  defineFlow,
  type ExecutionAction,
  type ExecutionAuthzRequest,
  type ExecutionVerdict,
  flow$,
  type HeddleError,
  handler$,
  type LoomApp,
  type LoomConfig,
  policy$,
  step$,
} from "../../src/index.js";
import { typesOf, within } from "../lifecycle/world.js";

const any = z.unknown();
const SECRET = "ann-the-principal";

const gated = defineFlow(
  flow$({ id: "gated", version: "1", inputSchema: any, outputSchema: any }),
  async (ctx) => ctx.suspend({ on: "Approval" }),
);

interface Trace {
  readonly app: LoomApp;
  readonly asked: ExecutionAuthzRequest[];
  readonly denied: [ExecutionAuthzRequest, string | undefined][];
  readonly warnings: string[];
}

/** An app whose authorizer answers as told, once there is an execution that waits at its gate. */
async function guarded(
  answer: (request: ExecutionAuthzRequest) => unknown,
  more: Partial<NonNullable<LoomConfig["security"]>> = {},
): Promise<Trace> {
  const asked: ExecutionAuthzRequest[] = [];
  const denied: Trace["denied"] = [];
  const warnings: string[] = [];
  let isReady = false;
  const app = defineConfig({
    storage: { kind: "memory" },
    flows: [gated],
    observability: { onWarn: (message) => warnings.push(message) },
    security: {
      executionAuthorizer: {
        authorize(request) {
          if (!isReady) return { allowed: true };
          asked.push(request);
          return answer(request) as ExecutionVerdict;
        },
      },
      onExecutionDenied: (request, reason) => denied.push([request, reason]),
      ...more,
    },
  });
  onTestFinished(() => app.close());
  const handle = await app.runtime.start(gated, null, { executionId: "x", principal: "owner" });
  await handle.waitForSuspend();
  isReady = true;
  return { app, asked, denied, warnings };
}

type Door = (app: LoomApp) => Promise<unknown>;

/** Every way in, with what the authorizer is asked for it. */
const DOORS: readonly (readonly [string, ExecutionAction, Door])[] = [
  ["start", "start", ({ runtime }) => runtime.start(gated, null, { executionId: "y", principal: SECRET })],
  ["resume", "resume", ({ runtime }) => runtime.as(SECRET).resume("x", { eventType: "Approval" })],
  ["cancel", "cancel", ({ runtime }) => runtime.as(SECRET).cancel("x", "enough")],
  [
    "cancel by force",
    "cancel",
    ({ runtime }) => runtime.cancel("x", "now", { force: true, principal: SECRET }),
  ],
  ["loadState", "query", ({ runtime }) => runtime.loadState("x", { principal: SECRET })],
  ["a handle's getState", "query", ({ runtime }) => runtime.as(SECRET).handle("x").getState()],
  ["a handle's waitForSuspend", "query", ({ runtime }) => runtime.as(SECRET).handle("x").waitForSuspend()],
  ["a handle's settled", "query", ({ runtime }) => runtime.handle("x", { principal: SECRET }).settled()],
  [
    "a handle's waitForCompletion",
    "query",
    async ({ runtime }) => {
      const waiting = runtime.as(SECRET).handle("x").waitForCompletion();
      await runtime.resume("x", { eventType: "Approval" }).catch(() => {});
      return waiting;
    },
  ],
  [
    "a handle's result",
    "query",
    async ({ runtime }) => {
      const waiting = runtime.as(SECRET).handle("x").result();
      await runtime.resume("x", { eventType: "Approval" }).catch(() => {});
      return waiting;
    },
  ],
];

const verdictDoor: Door = ({ runtime }) => runtime.as(SECRET).resolveInDoubt("x", "pay", { retry: true });

const NO: readonly (readonly [string, () => unknown])[] = [
  ["a denial", () => ({ allowed: false, reason: "not yours" })],
  ["a denial without a reason", () => ({ allowed: false })],
  ["a denial in a promise", () => Promise.resolve({ allowed: false })],
  [
    "an error",
    () => {
      throw new TypeError(`${SECRET} is not known`);
    },
  ],
  ["a rejection", () => Promise.reject(new RangeError(SECRET))],
  ["nothing", () => undefined],
  ["true", () => true],
  ["text", () => "allowed"],
  ["a verdict that is no boolean", () => ({ allowed: "yes" })],
  ["a reason that is no text", () => ({ allowed: true, reason: 7 })],
];

describe.each(DOORS)("%s", (_, action, door) => {
  const mine = (answer: () => unknown) => (request: ExecutionAuthzRequest) =>
    request.principal === SECRET ? answer() : { allowed: true };

  it.each(NO)("is denied by %s, and nothing is recorded of it", async (_what, answer) => {
    const { app, asked, denied, warnings } = await guarded(mine(answer));
    const error = (await door(app).then(
      () => expect.fail("it was let through"),
      (failure: unknown) => failure,
    )) as HeddleError;
    expect(error.code).toBe("EXECUTION_DENIED");
    expect(JSON.stringify([error.message, error.details, warnings])).not.toContain(SECRET);
    expect(denied.map(([request]) => request.action)).toContain(action);
    const request = asked.find(({ principal }) => principal === SECRET);
    expect(request).toMatchObject({
      action,
      workflowId: "gated",
      executionId: action === "start" ? "y" : "x",
    });
    expect(await typesOf(app, "y")).toEqual([]);
    expect((await typesOf(app, "x")).some((type) => type.includes("CANCEL"))).toBe(false);
    if (action !== "query")
      expect(await typesOf(app, "x")).toEqual(["EXECUTION_STARTED", "EXECUTION_SUSPENDED"]);
  });

  it.each([
    ["a verdict", () => ({ allowed: true })],
    ["a verdict in a promise", async () => ({ allowed: true })],
  ])("is let through by %s", async (_what, answer) => {
    const { app, denied } = await guarded(mine(answer));
    await door(app);
    expect(denied).toEqual([]);
  });

  it("looks like an execution that does not exist, where the authorizer says so", async () => {
    const { app } = await guarded(mine(() => ({ allowed: false, asUnknown: true })));
    const told = await door(app).then(String, (error: HeddleError) => `${error.code} ${error.message}`);
    if (action === "start") expect(told).toContain("EXECUTION_DENIED");
    else expect(told).toBe("EXECUTION_UNKNOWN There is no execution x in this log.");
    await expect(app.runtime.loadState("nobody")).rejects.toMatchObject({
      code: "EXECUTION_UNKNOWN",
      message: "There is no execution nobody in this log.",
    });
  });
});

describe("what is asked", () => {
  it("names gate and step, and for whom an execution is to act when that is somebody else", async () => {
    const { app, asked } = await guarded(() => ({ allowed: true }));
    const view = app.runtime.as("ann");
    await view.start(gated, null, { executionId: "own" });
    await view.start(gated, null, { executionId: "other", principal: "bob" });
    await view.start(gated, null, { executionId: "nobody's", principal: undefined as never });
    await verdictDoor(app).catch(() => {});
    await view.resume("own", { eventType: "Approval", payload: "the payload is nobody's business" });
    const own = { executionId: "own", workflowId: "gated", principal: "ann" };
    expect(asked).toEqual([
      { action: "start", ...own },
      { action: "start", ...own, executionId: "other", actsFor: "bob" },
      { action: "start", ...own, executionId: "nobody's" },
      { action: "resume", executionId: "x", workflowId: "gated", principal: SECRET, stepId: "pay" },
      { action: "resume", ...own, eventType: "Approval" },
    ]);
  });

  it("is the authorizer's to change: what is checked, and told of a denial, is what was asked", async () => {
    const { app, denied } = await guarded((request) => {
      Object.assign(request, { action: "start", executionId: "changed", principal: "changed" });
      return { allowed: false, asUnknown: true };
    });
    const refused = app.runtime.as("ann").loadState("x");
    await expect(refused).rejects.toMatchObject({ code: "EXECUTION_UNKNOWN", details: { executionId: "x" } });
    expect(denied).toMatchObject([[{ action: "query", executionId: "x", principal: "ann" }, undefined]]);
  });

  it("is answered by the closing of the runtime when nobody else does", async () => {
    const { app } = await guarded(() => new Promise(() => {}));
    const handle = app.runtime.handle("x");
    const calls = [
      app.runtime.start(gated, null),
      app.runtime.loadState("x"),
      app.runtime.list(),
      app.runtime.resume("x", { eventType: "Approval" }),
      app.runtime.cancel("x"),
      handle.result(),
      handle.settled(),
    ];
    const outcomes = Promise.allSettled(calls);
    await new Promise((resolve) => setImmediate(resolve));
    await app.close();
    for (const outcome of await outcomes)
      expect(outcome).toMatchObject({ status: "rejected", reason: { code: "RUNTIME_CLOSED" } });
  });

  it("is asked of unknown executions too, so that a denial tells nothing", async () => {
    const { app, asked } = await guarded(() => ({ allowed: false }));
    await expect(app.runtime.loadState("nobody")).rejects.toMatchObject({ code: "EXECUTION_DENIED" });
    expect(asked).toMatchObject([{ action: "query", executionId: "nobody", workflowId: undefined }]);
  });

  it("a hook that throws changes no denial, and is warned of without what it said", async () => {
    const { app, warnings } = await guarded(() => ({ allowed: false }), {
      onExecutionDenied: () => {
        throw new Error(SECRET);
      },
    });
    await expect(app.runtime.cancel("x")).rejects.toMatchObject({ code: "EXECUTION_DENIED" });
    expect(warnings).toEqual([expect.stringContaining("onExecutionDenied")]);
    expect(warnings.join()).not.toContain(SECRET);
  });
});

describe("a list", () => {
  it("leaves out what the caller may not query, and its pages are full all the same", async () => {
    const { app, denied } = await guarded(({ action, executionId, principal }) => ({
      allowed:
        action !== "query" ||
        principal === undefined ||
        (principal === "ann" && executionId.startsWith("ann")),
    }));
    for (let i = 0; i < 12; i++) {
      await app.runtime.start(gated, null, { executionId: `${i % 3 === 0 ? "ann" : "bob"}-${i}` });
    }
    const view = app.runtime.as("ann");
    const ids = async (filter: object) => (await view.list(filter)).map(({ id }) => id);
    expect(await ids({})).toEqual(["ann-9", "ann-6", "ann-3", "ann-0"]);
    expect(await ids({ limit: 3 })).toEqual(["ann-9", "ann-6", "ann-3"]);
    expect(await ids({ limit: 3, after: "ann-3" })).toEqual(["ann-0"]);
    expect(await app.runtime.list()).toHaveLength(13);
    expect(denied).toEqual([]);
  });

  it("of as many as nobody knows is refused, and does not go on for ever", async () => {
    const { app } = await guarded(() => ({ allowed: true }));
    const listed = within(app.runtime.as("ann").list({ limit: Number("many") }), "list");
    await expect(listed).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });
});

describe("who answers a gate", () => {
  const authenticator = {
    authenticate: ({ credentials }: { credentials: unknown }) =>
      credentials === "the token" ? "ann" : undefined,
  };

  it("is who the authenticator says, whatever the caller says; credentials are not recorded", async () => {
    const { app, asked } = await guarded(() => ({ allowed: true }), { resumeAuthenticator: authenticator });
    await app.runtime.resume("x", { eventType: "Approval" }, { principal: "root", credentials: "the token" });
    expect(asked).toMatchObject([{ action: "resume", principal: "ann" }]);
    expect(JSON.stringify(await app.stores.eventStore.read("x"))).not.toContain("the token");
  });

  it.each([
    ["nobody", authenticator],
    ["an error", { authenticate: () => Promise.reject(new Error(`no ${SECRET}`)) }],
    ["nonsense", { authenticate: () => 7 as never }],
    ["an empty name", { authenticate: () => "" }],
  ])("refused for %s: nothing is recorded, and the gate stays open", async (_, resumeAuthenticator) => {
    const { app, asked } = await guarded(() => ({ allowed: true }), { resumeAuthenticator });
    const error = (await app.runtime
      .resume("x", { eventType: "Approval" })
      .catch((e: unknown) => e)) as HeddleError;
    expect(error.code).toBe("RESUME_UNAUTHENTICATED");
    expect(error.message).not.toContain(SECRET);
    expect(asked).toEqual([]);
    expect(await typesOf(app, "x")).toEqual(["EXECUTION_STARTED", "EXECUTION_SUSPENDED"]);
  });

  it("works without an executionAuthorizer", async () => {
    const { app } = await guarded(() => ({ allowed: false }), {
      executionAuthorizer: undefined,
      resumeAuthenticator: authenticator,
    });
    await expect(app.runtime.resume("x", { eventType: "Approval" })).rejects.toMatchObject({
      code: "RESUME_UNAUTHENTICATED",
    });
    await app.runtime.resume("x", { eventType: "Approval" }, { credentials: "the token" });
    expect((await app.runtime.handle("x").waitForCompletion()).status).toBe("completed");
  });
});

describe("a flow registered while the app runs", () => {
  it("has its policies enforced, also when nothing was guarded before (fails closed)", async () => {
    let ran = 0;
    const pay = step$({ id: "pay", inputSchema: any, outputSchema: any, handler: handler$(() => ++ran) });
    const strict = defineFlow(
      flow$({
        id: "strict",
        version: "1",
        inputSchema: any,
        outputSchema: any,
        policies: [policy$({ id: "no-pay", deny: ["pay"] })],
      }),
      (ctx) => ctx.run(pay, 1),
    );
    const app = defineConfig({ storage: { kind: "memory" }, flows: [gated] });
    onTestFinished(() => app.close());
    await app.start();
    app.runtime.registerFlow(strict.definition, strict.runner);
    const handle = await app.runtime.start(strict, null);
    expect((await handle.waitForCompletion()).error).toMatchObject({ code: "EFFECT_DENIED" });
    expect(ran).toBe(0);
  });

  it("the same beside flows that have policies of their own", async () => {
    let ran = 0;
    const step = (id: string) =>
      step$({ id, inputSchema: any, outputSchema: any, handler: handler$(() => ++ran) });
    const make = (id: string, deny: string[]) =>
      defineFlow(
        flow$({ id, version: "1", inputSchema: any, outputSchema: any, policies: [policy$({ id, deny })] }),
        (ctx) => ctx.run(step("pay"), 1),
      );
    const [first, later] = [make("first", ["other"]), make("later", ["pay"])];
    const app = defineConfig({ storage: { kind: "memory" }, flows: [first] });
    onTestFinished(() => app.close());
    app.runtime.registerFlow(later.definition, later.runner);
    expect(await (await app.runtime.start(first, null)).result()).toBe(1);
    const denied = await (await app.runtime.start(later, null)).waitForCompletion();
    expect(denied.error).toMatchObject({ code: "EFFECT_DENIED" });
    expect(ran).toBe(1);
  });
});
