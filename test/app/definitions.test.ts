// Agents, tools and skills of an app: listed, or found in modules. What an app has no use for yet is refused.

import { describe, expect, it } from "vitest";
import { z } from "zod";
import { agent$, defineConfig, skill$, tool$ } from "../../src/index.js";
import { flow, openApp, within } from "../lifecycle/world.js";

const tool = (id: string) =>
  tool$({ id, description: "d", inputSchema: z.object({}), outputSchema: z.unknown() });
const skill = (id: string) => skill$({ id, description: `about ${id}`, instructions: "x" });
const dba = agent$({ id: "dba", tools: [tool("query")] });
const ops = agent$({ id: "ops" });

function refusalOf(options: unknown): unknown {
  try {
    void defineConfig({ storage: { kind: "memory" }, ...(options as object) }).close();
    return undefined;
  } catch (error) {
    return error;
  }
}

describe("definitions of an app", () => {
  it("are those that are listed and those that modules export, each once", async () => {
    const [query, mail] = [tool("query"), tool("mail")];
    const app = openApp({
      agents: [dba],
      agentModules: [{ default: dba, ops, VERSION: 1 }],
      toolModules: [{ query, mail, dba }, { again: query }],
      skills: [skill("sql")],
      skillModules: [{ billing: skill("billing"), query }],
    });
    await app.start();
    expect(app.agents).toEqual([dba, ops]);
    expect(app.tools).toEqual([query, mail]);
    expect(app.skills.all().map(({ id }) => id)).toEqual(["billing", "sql"]);
    expect(app.skills.find("something about sql")[0]?.id).toBe("sql");
  });

  it("are none when there are none", async () => {
    const app = openApp({});
    await app.start();
    expect([app.agents, app.tools, app.skills.all()]).toEqual([[], [], []]);
  });

  it("agentSurface registers a surface for each agent, under its id", async () => {
    const shows = flow("shows", async (ctx) => ctx.ui.set("stage", "looking"));
    const app = openApp({ flows: [shows], agents: [dba], agentSurface: true });
    await within((await app.runtime.start(shows, 0, { executionId: "x" })).result(), "result");
    expect(app.projectionRuntime.getState("dba", "x")).toEqual({ stage: "looking" });
    const plain = openApp({ agents: [dba] });
    expect(() => plain.projectionRuntime.getState("dba", "x")).toThrow(/No surface dba/);
    await plain.start();
  });

  it.each<[string, RegExp, unknown]>([
    ["agents", /must be a list/, { agents: dba }],
    [
      "agents[0]",
      /agent\$.*cards are not in this version/,
      { agents: [{ name: "a card", url: "http://x" }] },
    ],
    ["agentModules[0]", /is no module/, { agentModules: ["./agents.js"] }],
    ["toolModules", /must be a list/, { toolModules: {} }],
    ["skillModules[1]", /is no module/, { skillModules: [{}, null] }],
    ["skills[0]", /make one by skill\$/, { skills: [dba] }],
    ["agentSurface", /must be true or false/, { agentSurface: "yes" }],
  ])("%s is named when it is wrong", (option, message, options) => {
    expect(refusalOf(options)).toMatchObject({ code: "CONFIG_INVALID", details: { option } });
    expect(() => defineConfig({ storage: { kind: "memory" }, ...(options as object) })).toThrow(message);
  });

  it("two of one kind and id conflict", () => {
    for (const options of [
      { agents: [dba, agent$({ id: "dba" })] },
      { toolModules: [{ a: tool("query"), b: tool("query") }] },
      { skills: [skill("sql"), skill("sql")] },
    ])
      expect(refusalOf(options)).toMatchObject({ code: "DEFINITION_CONFLICT" });
  });
});
