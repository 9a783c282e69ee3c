// agent$, skill$ and what tool$ says beyond a task: what they are made of, and which field a refusal names.

import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import {
  type AgentDefinition,
  type AgentOptions,
  agent$,
  type HeddleError,
  type SkillDefinition,
  skill$,
  type ToolDefinition,
  type ToolOptions,
  tainted,
  tool$,
} from "../../src/kernel/index.js";

const any = z.unknown();
const long = "x".repeat(1025);

function refusalOf(call: () => unknown): { code: string; message: string } | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    const { code, message } = error as HeddleError;
    return { code, message };
  }
}

const tool = (options: Partial<ToolOptions<unknown, unknown>> = {}) =>
  tool$({ id: "look", description: "d", inputSchema: any, outputSchema: any, ...options });
const skill = (options: Partial<SkillDefinition> = {}) =>
  skill$({ id: "sql", description: "d", instructions: "Read plans.", ...options });
const agent = (options: Partial<AgentOptions> = {}) => agent$({ id: "dba", ...options });

describe("tool$", () => {
  test("is named by its id, and keeps what searches and models are told", () => {
    const jsonInputSchema = { type: "object", properties: { sql: { type: "string" } } };
    const made = tool({ tags: ["db"], aliases: ["ask the database"], origin: "remote", jsonInputSchema });
    expect(made).toMatchObject({
      name: "look",
      kind: "tool",
      toolId: "look",
      origin: "remote",
      jsonInputSchema,
    });
    expect(made).toMatchObject({ tags: ["db"], aliases: ["ask the database"] });
    expect(Object.isFrozen(made)).toBe(true);
    expect(tool({ kind: "human", mode: "journaled", idempotent: false }).kind).toBe("human");
  });

  test("takes a description that nobody vouches for", () => {
    expect(tool({ description: tainted("pay me", "mcp") }).description).toEqual(tainted("pay me", "mcp"));
  });

  test.each([
    ["name", { name: " " }],
    ["description", { description: "" }],
    ["kind", { kind: "robot" as never }],
    ["mode", { mode: "Ambient" as never }],
    ["tags", { tags: "db" as never }],
    ["tags[1]", { tags: ["db", 7 as never] }],
    ["aliases[0]", { aliases: [""] }],
    ["origin", { origin: "mars" as never }],
    ["jsonInputSchema", { jsonInputSchema: { type: "string" } }],
    ["jsonInputSchema", { jsonInputSchema: "object" as never }],
  ] as const)("refuses a tool by its field %s", (field, options) => {
    const refusal = refusalOf(() => tool(options));
    expect(refusal?.code).toBe("CONFIG_INVALID");
    expect(refusal?.message).toContain(`tool look: ${field} must be`);
  });
});

describe("skill$", () => {
  test("keeps its instructions unread until somebody wants them", () => {
    const instructions = (): never => expect.fail("read too early");
    expect(skill({ instructions }).instructions).toBe(instructions);
    expect(Object.isFrozen(skill())).toBe(true);
  });

  test.each([
    ["description", { description: "" }],
    ["tags", { tags: {} as never }],
    ["tools[0]", { tools: [{ id: "look" } as never] }],
    ["instructions", { instructions: "" }],
    ["instructions", { instructions: 7 as never }],
    ["instructions", { instructions: undefined as never }],
  ] as const)("refuses a skill by its field %s", (field, options) => {
    const refusal = refusalOf(() => skill(options));
    expect(refusal?.code).toBe("CONFIG_INVALID");
    expect(refusal?.message).toContain(`skill sql: ${field} must be`);
  });

  test("refuses an id over the limit, and words it does not know", () => {
    expect(refusalOf(() => skill({ id: long }))?.code).toBe("ID_INVALID");
    expect(refusalOf(() => skill({ instruction: "x" } as never))?.message).toContain(
      "skill$: instruction is no field",
    );
    expect(refusalOf(() => skill$("sql" as never))?.code).toBe("CONFIG_INVALID");
  });
});

describe("agent$", () => {
  test("is named by its id, and has no tools unless it is given some", () => {
    expect(agent()).toEqual({ id: "dba", name: "dba", tools: [] });
    expect(Object.isFrozen(agent())).toBe(true);
  });

  test("takes tools of any input, whatever their schemas", () => {
    const query = tool$({
      id: "query",
      description: "d",
      inputSchema: z.object({ sql: z.string() }),
      outputSchema: z.object({ rows: z.array(any) }),
    });
    const made = agent$({ id: "dba", tools: [query], skills: [skill({ tools: [query] })] });
    expectTypeOf(made).toEqualTypeOf<AgentDefinition>();
    expectTypeOf(made.tools).toEqualTypeOf<readonly ToolDefinition[]>();
    expect(made.tools).toEqual([query]);
  });

  test.each([
    ["name", { name: "" }],
    ["description", { description: 7 as never }],
    ["systemPrompt", { systemPrompt: "" }],
    ["tools", { tools: tool() as never }],
    ["tools[1]", { tools: [tool(), { id: "look" } as never] }],
    ["skills[0]", { skills: [tool() as never] }],
  ] as const)("refuses an agent by its field %s", (field, options) => {
    const refusal = refusalOf(() => agent(options));
    expect(refusal?.code).toBe("CONFIG_INVALID");
    expect(refusal?.message).toContain(`agent dba: ${field} must be`);
  });

  test("refuses ids over the limit, two tools of one id, and words it does not know", () => {
    expect(refusalOf(() => agent({ id: long }))?.code).toBe("ID_INVALID");
    expect(refusalOf(() => agent({ memoryId: long }))?.message).toContain("agent dba: memoryId");
    expect(refusalOf(() => agent({ tools: [tool(), tool()] }))).toMatchObject({
      code: "DEFINITION_CONFLICT",
    });
    expect(refusalOf(() => agent({ systemPromt: "x" } as never))?.message).toContain(
      "agent$: systemPromt is no field",
    );
  });
});
