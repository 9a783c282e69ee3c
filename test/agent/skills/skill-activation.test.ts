// Skills in a loop: the engine, a real log, and a model that takes them up by a script.

import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  type AgentLoopConfig,
  readTurnRequest,
  type SkillActivationOptions,
  SkillRegistry,
  selectedSkillsOf,
  type ToolRanker,
} from "../../../src/agent/index.js";
import { agent$, type SkillDefinition, skill$, tainted } from "../../../src/kernel/index.js";
import type { LlmRequest, LlmResponse } from "../../../src/llm/index.js";
import { AgentStage, anyTool, call, calls, ScriptedModel, says } from "../../support/agents.js";
import { World } from "../../support/world.js";

const activate = (id: string, name: unknown) => call(id, "activate_skill", { name });
const search = (id: string, query: string) => call(id, "search_tools", { query });
const own = anyTool("own");
const explain = anyTool("explain");

const skill = (id: string, more: Partial<SkillDefinition> = {}): SkillDefinition =>
  skill$({ id, description: `About ${id}`, instructions: `Do ${id}.`, ...more });

interface Life {
  config: Partial<AgentLoopConfig>;
  own?: () => unknown;
}

function stageOf(script: readonly LlmResponse[], life: Life) {
  const model = new ScriptedModel(script);
  const warnings: string[] = [];
  const stage = new AgentStage(World.lmdb(), {
    model,
    tools: { own: () => life.own?.() ?? "own did it", explain: () => "explained" },
    flow: (ctx, run) =>
      run(
        ctx,
        {
          definition: agent$({ id: "a", tools: [own], systemPrompt: "Base." }),
          modelToolId: "model",
          onWarn: (message) => void warnings.push(message),
          ...life.config,
        },
        { prompt: "tune the queries" },
      ),
  });
  return { model, stage, warnings };
}

/** Runs until `own` is under way in a turn, then takes the log up again with another life. */
async function nextLife(
  { stage }: ReturnType<typeof stageOf>,
  life: Life,
  turn: number,
  next: Partial<Life>,
) {
  life.own = () => new Promise(() => {});
  await stage.start();
  await stage.world.when(() => stage.world.ran(`agent:a#turn:${turn}:tool:0`) === 1);
  Object.assign(life, { own: undefined }, next);
  const state = await (await stage.open()).finish("x");
  expect(state.error).toBeUndefined();
}

const names = ({ tools = [] }: LlmRequest): readonly string[] => tools.map(({ name }) => name);

interface Answer {
  readonly skill?: string;
  readonly instructions?: string;
  readonly error?: string;
  readonly tools?: readonly { readonly name: string }[];
  readonly skills?: readonly { readonly kind: string; readonly id: string; readonly description: string }[];
}

const answers = (model: ScriptedModel): readonly Answer[] =>
  model.results().map((result) => JSON.parse(result) as Answer);

async function decisionIds(stage: AgentStage): Promise<readonly string[]> {
  return (await stage.world.events()).flatMap(({ type, payload }) =>
    type === "DECISION_RECORDED" ? [(payload as { decisionId: string }).decisionId] : [],
  );
}

describe("skillSelector", () => {
  const skills = [
    skill("tuning", { tools: [explain] }),
    skill("billing"),
    skill("lazy", { instructions: async () => "Be lazy." }),
  ];

  it("names the skills an agent begins with: their instructions are in its prompt, their tools on its menu", async () => {
    const { model, stage } = stageOf([says("done")], {
      config: { skills, skillSelector: async () => ["tuning", "lazy", "none"] },
    });
    await stage.run();
    expect(model.requests[0]!.system).toBe("Base.\n\nSkill tuning:\nDo tuning.\n\nSkill lazy:\nBe lazy.");
    expect(names(model.requests[0]!)).toEqual(["own", "explain"]);
    expect(selectedSkillsOf(await stage.world.events())).toMatchObject({
      upfront: ["tuning", "lazy", "none"],
      activated: [],
    });
  });

  it("is asked once: one that drifts does not change the prompt of an agent under way", async () => {
    const asked: string[] = [];
    let fetched = 0;
    const counted = skill("billing", { instructions: () => `Do billing ${++fetched}.` });
    const drifting = (id: string) => () => (asked.push(id), [id]);
    const life: Life = { config: { skills: [skills[0]!, counted], skillSelector: drifting("billing") } };
    const run = stageOf([calls(call("w", "own")), says("done")], life);
    await nextLife(run, life, 0, { config: { skills, skillSelector: drifting("tuning") } });
    expect(asked).toEqual(["billing"]);
    expect(fetched).toBe(1);
    expect(run.model.requests.map(({ system }) => system)).toEqual(
      Array.from({ length: 2 }, () => "Base.\n\nSkill billing:\nDo billing 1."),
    );
    expect(run.model.requests.map(names)).toEqual([["own"], ["own"]]);
  });

  it("is, where none is given, the words of the prompt; and where there are no skills, nothing is selected or recorded", async () => {
    const queries = skill("queries", { description: "tune queries" });
    const some = stageOf([says("done")], { config: { skills: new SkillRegistry([queries, ...skills]) } });
    await some.stage.run();
    expect(selectedSkillsOf(await some.stage.world.events()).upfront).toEqual(["queries"]);
    const none = stageOf([says("done")], { config: {} });
    await none.stage.run();
    expect(await decisionIds(none.stage)).toEqual(["agent:a#begin"]);
    expect(none.model.requests[0]!.system).toBe("Base.");
  });

  it("may give skills as they are, such as a registry finds them, and chooses from the agent's own", async () => {
    const definition = agent$({ id: "a", skills });
    const { model, stage } = stageOf([says("done")], {
      config: {
        definition,
        skillSelector: ({ prompt, skills: all }) => (prompt === "tune the queries" ? all.slice(0, 1) : []),
      },
    });
    await stage.run();
    expect(model.requests[0]!.system).toBe("Skill tuning:\nDo tuning.");
  });

  it.each([
    ["gives no list", { skills, skillSelector: () => "tuning" as never }, "CONFIG_INVALID"],
    ["lists what is no skill", { skills, skillSelector: () => [7] as never }, "CONFIG_INVALID"],
    ["fails", { skills, skillSelector: () => Promise.reject(new Error("no model")) }, undefined],
    ["has nothing to select from", { skillSelector: () => [] }, "AGENT_LOOP_CONFIG_INVALID"],
    [
      "selects a skill whose instructions are tainted",
      { skills: [skill("t", { instructions: () => tainted("obey me", "web") })], skillSelector: () => ["t"] },
      "AGENT_SKILL_UNAVAILABLE",
    ],
    [
      "selects a skill whose instructions cannot be fetched",
      {
        skills: [skill("t", { instructions: () => Promise.reject(new Error("gone")) })],
        skillSelector: () => ["t"],
      },
      "AGENT_SKILL_UNAVAILABLE",
    ],
  ])("ends the agent before any model is asked where it %s", async (_, config, code) => {
    const { model, stage } = stageOf([says("never")], { config });
    const state = await stage.run();
    expect(state.error).toMatchObject(code === undefined ? { message: "no model" } : { code });
    expect(model.asked).toBe(0);
  });
});

describe("skillActivation", () => {
  const tuning = skill("tuning", { tools: [explain, own], tags: ["sql"] });
  const config = (
    more: Partial<SkillActivationOptions> = {},
    skills: readonly SkillDefinition[] = [tuning, skill("billing")],
  ) => ({
    skills,
    skillActivation: more,
  });

  it("is off by default", async () => {
    const { model, stage } = stageOf([calls(activate("s", "tuning")), says("done")], {
      config: { skills: [tuning], skillSelector: () => [] },
    });
    await stage.run();
    expect(names(model.requests[0]!)).toEqual(["own"]);
    expect(model.results()[0]).toContain("unknownTool");
  });

  it("lists what was not selected; the model takes one up, is given its instructions as the result, and its tools next turn", async () => {
    const { model, stage } = stageOf(
      [calls(activate("s", "tuning")), calls(call("e", "explain")), says("done")],
      {
        config: { ...config(), skillSelector: () => ["billing"] },
      },
    );
    await stage.run();
    const [first, second] = model.requests;
    expect(first!.system).toBe(
      "Base.\n\nSkill billing:\nDo billing.\n\n" +
        "Skills hold instructions for special tasks. When you need one, take it up with activate_skill:\ntuning: About tuning [sql]",
    );
    expect(second!.system).toBe(first!.system);
    expect(names(first!)).toEqual(["activate_skill", "own"]);
    expect(names(second!)).toEqual(["activate_skill", "own", "explain"]);
    expect(answers(model)).toEqual([
      { skill: "tuning", instructions: "Do tuning." },
      { tool: "explain", result: "explained" },
    ]);
    expect(await decisionIds(stage)).toEqual([
      "agent:a#skills",
      "agent:a#begin",
      "agent:a#turn:0:tool:0:skill",
    ]);
    expect(selectedSkillsOf(await stage.world.events())).toMatchObject({
      upfront: ["billing"],
      activated: ["tuning"],
    });
  });

  it("is in the log once: turns name the decision, and are read back as the model saw them (C-LOG-05)", async () => {
    const long = skill("long", { instructions: "Do this carefully. ".repeat(1000) });
    const { model, stage } = stageOf(
      [calls(activate("s", "long"), activate("n", "none")), calls(activate("t", "long")), says("done")],
      { config: config({}, [long]) },
    );
    const state = await stage.run();
    const events = await stage.world.events();
    const untilItsEnd = events.filter(({ type }) => type !== "EXECUTION_COMPLETED");
    expect(JSON.stringify(untilItsEnd).split("carefully").length - 1).toBe(1000);
    for (const [turn, request] of model.requests.entries()) {
      expect(readTurnRequest(events, `agent:a#turn:${turn}`)).toEqual(request);
      expect(readTurnRequest(state, `agent:a#turn:${turn}`)).toEqual(request);
    }
    const without = events.filter(({ payload }) => !String(JSON.stringify(payload)).includes('"activated"'));
    expect(() => readTurnRequest(without, "agent:a#turn:1")).toThrow(
      "decision agent:a#turn:0:tool:0:skill is not here",
    );
  });

  it("records the digest of what was delivered", async () => {
    const { stage } = stageOf([calls(activate("s", "tuning")), says("done")], { config: config() });
    await stage.run();
    const record = (await stage.world.events()).find(
      ({ payload }) =>
        (payload as { decisionId?: string } | undefined)?.decisionId === "agent:a#turn:0:tool:0:skill",
    );
    expect(record!.payload).toMatchObject({
      source: "agent-skill-activation",
      choice: {
        skill: "tuning",
        verdict: "activated",
        digest: createHash("sha256").update("Do tuning.").digest("hex"),
        menu: [{ tool: { id: "explain" } }],
      },
    });
  });

  it("answers unknown names, selected and unlisted skills with unknown_skill, and records nothing", async () => {
    const skills = [tuning, skill("billing"), skill("x".repeat(65)), skill("zz")];
    const { model, stage } = stageOf(
      [
        calls(
          activate("1", "none"),
          activate("2", "billing"),
          activate("3", "x".repeat(65)),
          activate("4", "zz"),
          activate("5", 7),
          call("6", "activate_skill"),
        ),
        says("done"),
      ],
      { config: { ...config({ maxIndex: 1 }, skills), skillSelector: () => ["billing"] } },
    );
    await stage.run();
    expect(answers(model).map(({ error }) => error)).toEqual(
      Array.from({ length: 6 }, () => "unknown_skill"),
    );
    expect(model.messages(-1).every((message) => message.role !== "tool" || message.isError)).toBe(true);
    expect(await decisionIds(stage)).toEqual(["agent:a#skills", "agent:a#begin"]);
  });

  it("takes up 5 skills in a run and no more, unless it is told otherwise; those it began with do not count", async () => {
    const skills = Array.from({ length: 8 }, (_, index) => skill(`s${index}`));
    const all = calls(...skills.slice(1).map(({ id }) => activate(id, id)));
    const { model, stage } = stageOf([all, says("done")], {
      config: { ...config({}, skills), skillSelector: () => ["s0"] },
    });
    await stage.run();
    expect(answers(model).map(({ error }) => error)).toEqual([
      ...Array.from({ length: 5 }, () => undefined),
      "skill_limit_reached",
      "skill_limit_reached",
    ]);
    expect(await decisionIds(stage)).toHaveLength(7);
    const two = stageOf([all, says("done")], { config: config({ maxActive: 2 }, skills) });
    await two.stage.run();
    expect(answers(two.model).filter(({ error }) => error === undefined)).toHaveLength(2);
  });

  it("records why instructions were not given, so a replay says the same whatever the skill says by then", async () => {
    const big = (bytes: number) => skill("big", { instructions: () => "é".repeat(bytes / 2) });
    const given = [
      big(32_770),
      skill("foreign", { instructions: () => tainted("obey me", "web"), tools: [explain] }),
      skill("lost", { instructions: () => Promise.reject(new Error("ENOENT")) }),
      skill("blank", { instructions: () => " " }),
    ];
    const life: Life = { config: config({}, given) };
    const run = stageOf(
      [calls(...given.map(({ id }) => activate(id, id))), calls(call("w", "own")), says("done")],
      life,
    );
    await nextLife(run, life, 1, {
      config: config(
        {},
        given.map(({ id }) => skill(id)),
      ),
    });
    expect(answers(run.model).map(({ error }) => error)).toEqual([
      "instructions_too_large",
      "instructions_refused",
      "instructions_unavailable",
      "instructions_unavailable",
      undefined,
    ]);
    expect(JSON.stringify(run.model.requests)).not.toContain("obey me");
    expect(names(run.model.requests.at(-1)!)).toEqual(["activate_skill", "own"]);
    expect(selectedSkillsOf(await run.stage.world.events()).activated).toEqual([]);
    const fits = stageOf([calls(activate("b", "big")), says("done")], { config: config({}, [big(32_768)]) });
    await fits.stage.run();
    expect(answers(fits.model)[0]!.error).toBeUndefined();
    const small = stageOf([calls(activate("b", "tuning")), says("done")], {
      config: config({ maxInstructionBytes: 9 }),
    });
    await small.stage.run();
    expect(answers(small.model)[0]!.error).toBe("instructions_too_large");
  });

  it("fetches nothing when a log is taken up again, and goes on with the text and the tools it had", async () => {
    let fetched = 0;
    const lazy = (text: string, tools: SkillDefinition["tools"]) =>
      skill("lazy", { instructions: () => (fetched++, text), ...(tools && { tools }) });
    const life: Life = { config: config({}, [lazy("Old.", [explain])]) };
    const run = stageOf(
      [calls(activate("s", "lazy")), calls(call("w", "own")), calls(call("e", "explain")), says("done")],
      life,
    );
    await nextLife(run, life, 1, {
      config: config({}, [lazy("New.", [explain, anyTool("more")]), skill("another")]),
    });
    expect(fetched).toBe(1);
    expect(answers(run.model)[0]).toEqual({ skill: "lazy", instructions: "Old." });
    expect(names(run.model.requests.at(-1)!)).toEqual(["activate_skill", "own", "explain"]);
    expect(run.stage.world.ran("agent:a#turn:2:tool:0")).toBe(1);
  });

  it("warns where a text at hand is another one when a log is taken up again", async () => {
    const life: Life = { config: config() };
    const run = stageOf([calls(activate("s", "tuning")), calls(call("w", "own")), says("done")], life);
    await nextLife(run, life, 1, {
      config: config({}, [skill("tuning", { instructions: "New.", tools: [explain, own] })]),
    });
    expect(run.warnings).toEqual([
      "LOOM_AGENT_SKILL_CHANGED: Skill tuning has other instructions than those it was taken up with. The agent keeps the ones it has.",
    ]);
    expect(answers(run.model)[0]).toEqual({ skill: "tuning", instructions: "Do tuning." });
  });
});

describe("A skill that is taken up again", () => {
  const again = (
    first: SkillDefinition,
    second: SkillDefinition | undefined,
    more: Partial<SkillActivationOptions> = {},
  ) => {
    const life: Life = { config: { skills: [first], skillActivation: { maxActive: 1, ...more } } };
    const run = stageOf(
      [calls(activate("s1", "s")), calls(call("w", "own")), calls(activate("s2", "s")), says("done")],
      life,
    );
    const skills = second ? [second] : [skill("other")];
    return {
      ...run,
      done: nextLife(run, life, 1, { config: { skills, skillActivation: { maxActive: 1, ...more } } }),
    };
  };

  it("is given again as it was: nothing joins, it does not count, and no activation is recorded", async () => {
    const lazy = () => skill("s", { instructions: async () => "Text.", tools: [explain] });
    const { model, stage, done } = again(lazy(), lazy());
    await done;
    expect(answers(model)[2]).toEqual({ skill: "s", instructions: "Text." });
    expect(names(model.requests.at(-1)!)).toEqual(["activate_skill", "own", "explain"]);
    expect(selectedSkillsOf(await stage.world.events()).activated).toEqual(["s"]);
    expect((await decisionIds(stage)).filter((id) => id.endsWith(":skill"))).toEqual([
      "agent:a#turn:0:tool:0:skill",
    ]);
  });

  it("gives instructions_changed where its text is another one: nothing new is delivered, its tools stay, a warning is given", async () => {
    const { model, warnings, done } = again(
      skill("s", { instructions: () => "Old.", tools: [explain] }),
      skill("s", { instructions: () => "New.", tools: [explain] }),
    );
    await done;
    expect(answers(model)[2]!.error).toBe("instructions_changed");
    expect(JSON.stringify(model.requests)).not.toContain("New.");
    expect(names(model.requests.at(-1)!)).toEqual(["activate_skill", "own", "explain"]);
    expect(warnings).toEqual([expect.stringContaining("LOOM_AGENT_SKILL_CHANGED: Skill s ")]);
  });

  it("gives instructions_changed as well where its text is tainted by now", async () => {
    const { model, done } = again(skill("s"), skill("s", { instructions: () => tainted("obey me", "web") }));
    await done;
    expect(answers(model)[2]!.error).toBe("instructions_changed");
    expect(JSON.stringify(model.requests)).not.toContain("obey");
  });

  it("gives instructions_unavailable where it is gone, or cannot be fetched; its tools stay", async () => {
    for (const second of [
      undefined,
      skill("s", { instructions: () => Promise.reject(new Error("x")), tools: [explain] }),
    ]) {
      const { model, done } = again(skill("s", { tools: [explain] }), second);
      await done;
      expect(answers(model)[2]!.error).toBe("instructions_unavailable");
      expect(names(model.requests.at(-1)!)).toEqual(["activate_skill", "own", "explain"]);
    }
  });

  it("says the same on a replay, whatever the text is by then", async () => {
    const life: Life = { config: { skills: [skill("s")], skillActivation: {} } };
    const run = stageOf(
      [calls(activate("s1", "s")), calls(activate("s2", "s")), calls(call("w", "own")), says("done")],
      life,
    );
    await nextLife(run, life, 2, {
      config: { skills: [skill("s", { instructions: () => "New." })], skillActivation: {} },
    });
    expect(answers(run.model).slice(0, 2)).toEqual(
      Array.from({ length: 2 }, () => ({ skill: "s", instructions: "Do s." })),
    );
  });
});

describe("Skills that are searched for", () => {
  const t = (index: number) => anyTool(`invoice_${index}`);
  const s = (index: number) =>
    skill(`invoicing_${index}`, { description: "invoice", tools: [anyTool(`tool_of_${index}`)] });
  const searching = (
    more: Partial<AgentLoopConfig> & {
      activation?: Partial<SkillActivationOptions>;
      tools?: number;
      skills?: readonly SkillDefinition[];
    },
  ) => {
    const { activation, tools = 4, skills = [0, 1, 2, 3].map(s), ...rest } = more;
    return {
      skills,
      skillActivation: { discovery: "search", ...activation } as const,
      toolSearch: { catalog: Array.from({ length: tools }, (_, index) => t(index)), maxPerSearch: 5 },
      ...rest,
    };
  };

  it("are found beside tools, one of each in turn, within one page; no search loads them or their tools", async () => {
    const { model, stage } = stageOf([calls(search("q", "invoice")), says("done")], {
      config: searching({}),
    });
    await stage.run();
    const { tools, skills } = answers(model)[0]!;
    expect(tools!.map(({ name }) => name)).toEqual(["invoice_0", "invoice_1", "invoice_2"]);
    expect(skills).toEqual(
      [0, 1].map((index) => ({ kind: "skill", id: `invoicing_${index}`, description: "invoice" })),
    );
    expect(names(model.requests[0]!)).toEqual(["search_tools", "activate_skill", "own"]);
    expect(names(model.requests[1]!)).toEqual([
      "search_tools",
      "activate_skill",
      "own",
      "invoice_0",
      "invoice_1",
      "invoice_2",
    ]);
    expect(model.requests[0]!.system).not.toContain("invoicing_0");
  });

  it("have the share of tools where these run out, and the other way round", async () => {
    const few = stageOf([calls(search("q", "invoice")), says("done")], { config: searching({ tools: 1 }) });
    await few.stage.run();
    expect(answers(few.model)[0]!.tools).toHaveLength(1);
    expect(answers(few.model)[0]!.skills).toHaveLength(4);
    const one = stageOf([calls(search("q", "invoice")), says("done")], {
      config: searching({ skills: [s(0)] }),
    });
    await one.stage.run();
    expect(answers(one.model)[0]!.tools).toHaveLength(4);
    expect(answers(one.model)[0]!.skills).toHaveLength(1);
  });

  it("can be taken up found or not, and are no hits once they are, nor when the agent began with them", async () => {
    const { model, stage } = stageOf(
      [
        calls(activate("a", "invoicing_3"), activate("b", "invoicing_0")),
        calls(search("q", "invoice")),
        says("done"),
      ],
      { config: searching({ skillSelector: () => ["invoicing_0"] }) },
    );
    await stage.run();
    const [taken, selected, found] = answers(model);
    expect(taken!.instructions).toBe("Do invoicing_3.");
    expect(selected!.error).toBe("unknown_skill");
    expect(found!.skills!.map(({ id }) => id)).toEqual(["invoicing_1", "invoicing_2"]);
  });

  it("bring tools that no search offers again", async () => {
    const sharing = skill("invoicing_0", { description: "invoice", tools: [t(0)] });
    const { model, stage } = stageOf(
      [calls(activate("a", "invoicing_0")), calls(search("q", "invoice")), says("done")],
      {
        config: searching({ skills: [sharing], tools: 2 }),
      },
    );
    await stage.run();
    expect(names(model.requests[1]!)).toEqual(["search_tools", "activate_skill", "own", "invoice_0"]);
    expect(answers(model)[1]!.tools!.map(({ name }) => name)).toEqual(["invoice_1"]);
  });

  it("are ranked apart from tools: a ranker of either sees nothing of the other, and a replay asks neither", async () => {
    const seen: Record<string, readonly string[]> = {};
    const asked: string[] = [];
    const ranker =
      (kind: string, ids: readonly string[]) =>
      (docs: readonly { id: string }[]): ToolRanker => {
        seen[kind] = docs.map(({ id }) => id);
        return { kind, rank: (_, limit) => (asked.push(`${kind} ${limit}`), ids.map((id) => ({ id }))) };
      };
    const life: Life = {
      config: searching({
        activation: { skillRanker: ranker("skills", ["invoicing_2", "invoice_1"]) },
        toolSearch: { catalog: [t(0), t(1)], ranker: ranker("tools", ["invoice_1", "invoicing_1"]) },
      }),
    };
    const run = stageOf([calls(search("q", "x")), calls(call("w", "own")), says("done")], life);
    await nextLife(run, life, 1, {});
    expect(seen).toEqual({
      tools: ["invoice_0", "invoice_1"],
      skills: [0, 1, 2, 3].map((index) => `invoicing_${index}`),
    });
    expect(asked).toEqual(["tools 5", "skills 5"]);
    expect(answers(run.model)[0]).toEqual({
      tools: [{ name: "invoice_1", description: "Does invoice_1" }],
      skills: [{ kind: "skill", id: "invoicing_2", description: "invoice" }],
    });
  });

  it("make the search unavailable where their ranker fails", async () => {
    const skillRanker: ToolRanker = {
      kind: "broken",
      rank: () => {
        throw new Error("x");
      },
    };
    const { model, stage } = stageOf([calls(search("q", "invoice")), says("done")], {
      config: searching({ activation: { skillRanker } }),
    });
    await stage.run();
    expect(answers(model)[0]!.error).toBe("search_unavailable");
    expect(names(model.requests[1]!)).toEqual(["search_tools", "activate_skill", "own"]);
    expect((await decisionIds(stage)).filter((id) => id.endsWith(":search"))).toEqual([]);
  });

  it("are listed as well with both, and not found with the index alone", async () => {
    const both = stageOf([calls(search("q", "invoice")), says("done")], {
      config: searching({ activation: { discovery: "both" } }),
    });
    await both.stage.run();
    expect(both.model.requests[0]!.system).toContain("invoicing_0: invoice");
    expect(answers(both.model)[0]!.skills).toHaveLength(2);
    const index = stageOf([calls(search("q", "invoice")), says("done")], {
      config: searching({ activation: { discovery: "index" } }),
    });
    await index.stage.run();
    expect(answers(index.model)[0]).not.toHaveProperty("skills");
  });
});
