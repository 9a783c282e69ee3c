import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  type CapabilityAuthorizer,
  type CapabilityRequest,
  type EffectMiddleware,
  FlowPolicies,
  GrantTable,
  KillSwitch,
  PolicyAuthorizer,
  type Principal,
  type RingParts,
  ring,
  ToolEffect,
} from "../../src/effects/index.js";
import { policy$, type RegisteredFlow, secretRef, tainted, tool$ } from "../../src/kernel/index.js";
import { flow, World } from "../support/world.js";

const request = (effectId: string, facts: Partial<CapabilityRequest> = {}): CapabilityRequest => ({
  effectId,
  resource: undefined,
  executionId: "x",
  workflowId: "f",
  stepId: "s",
  principal: undefined,
  ...facts,
});

describe("GrantTable", () => {
  const table = new GrantTable({
    ann: ["mail.send", "files.*", "mcp.invoke:docs/read_doc", "db:orders/*"],
    triage: ["search"],
    root: ["*"],
  });

  it.each<[string, boolean, string, Partial<CapabilityRequest>]>([
    ["an exact grant", true, "mail.send", { principal: "ann" }],
    ["an exact grant, whatever the resource", true, "mail.send", { principal: "ann", resource: "bob" }],
    ["another effect", false, "mail.read", { principal: "ann" }],
    ["a prefix", true, "files.read", { principal: "ann" }],
    ["not the prefix itself with less", false, "files", { principal: "ann" }],
    ["one resource", true, "mcp.invoke", { principal: "ann", resource: "docs/read_doc" }],
    ["another resource", false, "mcp.invoke", { principal: "ann", resource: "docs/delete" }],
    ["a qualified grant without a resource", false, "mcp.invoke", { principal: "ann" }],
    ["resources under a prefix", true, "db", { principal: "ann", resource: "orders/17" }],
    ["everything", true, "anything", { principal: "root" }],
    ["a principal with facts, by its actor", true, "mail.send", { principal: { actor: "ann", tenant: "t" } }],
    ["a flow", true, "search", { workflowId: "triage" }],
    ["nobody", false, "mail.send", {}],
    ["somebody who is not in it", false, "mail.send", { principal: "eve" }],
    ["a name of Object", false, "mail.send", { principal: "constructor" }],
  ])("%s: %s", (_what, allowed, effectId, facts) => {
    expect(table.authorize(request(effectId, facts)).allowed).toBe(allowed);
  });

  it("refuses grants that are no names", () => {
    for (const grants of [{ ann: [""] }, { ann: "mail.send" }, undefined])
      expect(() => new GrantTable(grants as never)).toThrow(
        expect.objectContaining({ code: "CONFIG_INVALID" }),
      );
  });
});

describe("PolicyAuthorizer", () => {
  const authorizer = new PolicyAuthorizer({
    policies: [policy$({ id: "no-payments", deny: ["pay*"] })],
    policiesOf: (id) => (id === "reader" ? [policy$({ id: "read-only", allow: ["read*"] })] : []),
    authorizer: new GrantTable({ ann: ["*"] }),
  });

  it.each<[string, string, Partial<CapabilityRequest>, object]>([
    [
      "what a policy denies, no grant gives back",
      "pay.card",
      { principal: "ann" },
      { allowed: false, reason: "policy no-payments denies it" },
    ],
    [
      "what an allow list leaves out",
      "write",
      { principal: "ann", workflowId: "reader" },
      { allowed: false, reason: "policy read-only does not allow it" },
    ],
    ["what it names", "read.file", { principal: "ann", workflowId: "reader" }, { allowed: true }],
    ["what no policy is about, by the authorizer below", "write", { principal: "ann" }, { allowed: true }],
    ["and its no", "write", { principal: "eve" }, { allowed: false }],
  ])("%s", async (_what, effectId, facts, verdict) => {
    expect(await authorizer.authorize(request(effectId, facts))).toMatchObject(verdict);
  });
});

const anything = z.unknown();
const send = tool$({
  id: "send",
  name: "send",
  description: "send",
  inputSchema: anything,
  outputSchema: anything,
});

/** A flow with one tool under a ring, and how often the tool ran. */
async function guarded(
  parts: RingParts,
  {
    principal,
    retry,
    input = { resource: "to/bob" },
  }: { principal?: Principal; retry?: object; input?: unknown } = {},
) {
  const world = World.memory();
  const seen: unknown[] = [];
  const effect = new ToolEffect((_input, ctx) => {
    seen.push(ctx.principal);
    return "sent";
  });
  const f: RegisteredFlow = flow("f", (ctx) => ctx.execute({ ...send, ...(retry && { retry }) }, input));
  const flows = [f];
  const middleware = ring({ ...parts, flowPolicies: new FlowPolicies(flows) });
  const process = world.prepare(flows, { middleware });
  process.effects.register("send", effect);
  await world.until(process.runtime.open());
  await world.until(
    process.runtime.start(f, null, { executionId: "x", ...(principal !== undefined && { principal }) }),
  );
  return { world, flows, middleware, effect, seen, state: await process.finish("x") };
}

describe("an authorizer in the ring", () => {
  it("lets pass what it allows; the effect knows for whom it runs", async () => {
    const principal = { actor: "ann", tenant: "acme" };
    const { state, seen } = await guarded({ authorizer: new GrantTable({ ann: ["send"] }) }, { principal });
    expect(state).toMatchObject({ status: "completed", variables: { _output: "sent" } });
    expect(seen).toEqual([principal]);
  });

  it("is shown the resource, so that a grant can name it", async () => {
    const authorizer = new GrantTable({ ann: ["send:to/bob"] });
    expect((await guarded({ authorizer }, { principal: "ann" })).state.status).toBe("completed");
  });

  it.each<[string, unknown]>([
    [
      "behind a claim check that says another",
      { __loomClaimCheck: true, ref: "r", size: 1, resource: "to/bob" },
    ],
    ["inside tainted content", tainted({ resource: "to/eve" }, "mail")],
    ["as a reference to a secret", { resource: secretRef("eve") }],
    ["in a list", { resource: ["to/eve"] }],
  ])("does not take a resource %s for one that is granted, or not denied", async (_where, input) => {
    const granted = await guarded(
      { authorizer: new GrantTable({ ann: ["send:to/bob"] }) },
      { principal: "ann", input },
    );
    expect(granted.state.error).toMatchObject({ code: "EFFECT_DENIED" });
    const policies = [policy$({ id: "not-eve", deny: ["send:to/eve"] })];
    const notDenied = await guarded({ policies }, { input });
    expect(notDenied.state.error).toMatchObject({
      code: "EFFECT_DENIED",
      message: expect.stringContaining("policy not-eve") as unknown,
    });
    const whole = {
      authorizer: new GrantTable({ ann: ["send"] }),
      policies: [policy$({ id: "p", deny: ["sender:x"] })],
    };
    expect((await guarded(whole, { principal: "ann", input })).state.status).toBe("completed");
    expect([...granted.seen, ...notDenied.seen]).toEqual([]);
  });

  it("denies before anything else: no effect, no retry, no middleware, and a record of it", async () => {
    let passed = 0;
    const counting: EffectMiddleware = (_ctx, _input, next) => {
      passed++;
      return next();
    };
    const parts = { authorizer: new GrantTable({}), middleware: [counting] };
    const { world, state, seen } = await guarded(parts, { principal: "eve", retry: { maxAttempts: 5 } });
    expect(state.error).toMatchObject({ code: "EFFECT_DENIED" });
    expect({ seen, passed }).toEqual({ seen: [], passed: 0 });
    expect(await world.types()).toEqual([
      "EXECUTION_STARTED",
      "STEP_STARTED",
      "STEP_FAILED",
      "EXECUTION_FAILED",
    ]);
  });

  it.each<[string, CapabilityAuthorizer]>([
    [
      "throws",
      {
        authorize: () => {
          throw new Error("no connection");
        },
      },
    ],
    ["rejects", { authorize: () => Promise.reject(new Error("no connection")) }],
    ["gives no verdict", { authorize: () => undefined as never }],
    ["says yes in another way", { authorize: () => "yes" as never }],
  ])("fails closed when it %s", async (_what, authorizer) => {
    const { state, seen } = await guarded({ authorizer });
    expect(state.error).toMatchObject({ code: "EFFECT_DENIED" });
    expect(JSON.stringify(state.error)).not.toContain("no connection");
    expect(seen).toEqual([]);
    const behindPolicy = await guarded({ authorizer, policies: [policy$({ id: "p", deny: ["other"] })] });
    expect(behindPolicy.state.error).toMatchObject({ code: "EFFECT_DENIED" });
    expect(behindPolicy.seen).toEqual([]);
  });

  it("obeys the policies of the flow without any authorizer", async () => {
    const world = World.memory();
    const f = flow("f", (ctx) => ctx.execute(send, 1), {
      policies: [policy$({ id: "silent", deny: ["send"] })],
    });
    const process = world.prepare([f], { middleware: ring({ flowPolicies: new FlowPolicies([f]) }) });
    process.effects.register("send", new ToolEffect(() => "sent"));
    await world.until(process.runtime.open());
    await process.start(f, null);
    expect((await process.finish("x")).error).toMatchObject({ code: "EFFECT_DENIED" });
  });
});

describe("the principal", () => {
  it("C-EMB-03: survives a restart, and no reader of the log shows it", async () => {
    const world = World.memory();
    const seen: unknown[] = [];
    const step = world.step("look", async (_input, ctx) => {
      seen.push((ctx as unknown as { principal: unknown }).principal);
      if (seen.length === 1) await new Promise(() => {});
      return "looked";
    });
    const f = flow("f", (ctx) => ctx.run(step, 1));
    const first = await world.open([f]);
    const principal = { actor: "ann", token: "canary-9f3" };
    await world.until(first.runtime.start(f, null, { executionId: "x", principal }));
    await world.when(() => seen.length === 1);
    const second = await world.restart([f]);
    const state = await second.finish("x");
    expect(seen).toEqual([principal, principal]);
    expect(JSON.stringify([state, await world.events()])).not.toContain("canary");
  });
});

describe("a kill switch", () => {
  it.each([
    ["the system", { kind: "system" }, true],
    ["the tenant", { kind: "tenant", tenant: "acme" }, true],
    ["another tenant", { kind: "tenant", tenant: "other" }, false],
    ["the flow", { kind: "flow", flowId: "f" }, true],
    ["another flow", { kind: "flow", flowId: "g" }, false],
  ] as const)("stops effects of %s", async (_what, scope, stops) => {
    const killSwitch = new KillSwitch();
    void killSwitch.engage(scope, "the bill");
    const { state, seen } = await guarded({ killSwitch }, { principal: { tenant: "acme" } });
    if (stops) expect(state.error).toMatchObject({ code: "EFFECT_STOPPED" });
    else expect(state.status).toBe("completed");
    expect(seen).toHaveLength(stops ? 0 : 1);
  });

  it.each<[string, unknown, unknown]>([
    ["a misspelt kind", { kind: "tennant", tenant: "acme" }, "why"],
    ["a tenant without a name", { kind: "tenant" }, "why"],
    ["a flow by another field", { kind: "flow", flow: "f" }, "why"],
    ["text", "system", "why"],
    ["nothing", undefined, "why"],
    ["a reason that is none", { kind: "system" }, undefined],
  ])("refuses %s instead of stopping nothing", async (_what, scope, reason) => {
    const killSwitch = new KillSwitch();
    const refused = {
      code: "INPUT_INVALID",
      message: expect.stringContaining("Nothing was changed") as unknown,
    };
    await expect(killSwitch.engage(scope as never, reason as never)).rejects.toMatchObject(refused);
    if (reason !== undefined) await expect(killSwitch.release(scope as never)).rejects.toMatchObject(refused);
    expect(killSwitch.list()).toEqual([]);
  });

  it("lets effects run again once it is released, and lists what is stopped", async () => {
    const killSwitch = new KillSwitch();
    void killSwitch.engage({ kind: "system" }, "drill");
    expect(killSwitch.list()).toEqual([{ scope: { kind: "system" }, reason: "drill" }]);
    void killSwitch.release({ kind: "system" });
    expect((await guarded({ killSwitch })).state.status).toBe("completed");
  });
});
