import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SkillRegistry } from "../../src/agent/index.js";
import { skill$ } from "../../src/kernel/index.js";

const skill = (id: string, description: string, tags: readonly string[] = []) =>
  skill$({ id, description, tags, instructions: "x" });
const SKILLS = [
  skill("sql-tuning", "Makes slow queries fast", ["postgres", "plans"]),
  skill("billing", "Sends an invoice to the customer", ["money"]),
  skill("incident", "What to do when replication lags", ["postgres"]),
];

const found = (registry: SkillRegistry, query: string) => registry.find(query).map(({ id }) => id);

describe("SkillRegistry", () => {
  it("finds skills by the words of id, tags and description, the most relevant first", () => {
    const registry = new SkillRegistry(SKILLS);
    expect(found(registry, "tuning POSTGRES queries")).toEqual(["sql-tuning", "incident"]);
    expect(found(registry, "invoice the customer")).toEqual(["billing"]);
    expect(found(registry, "weather")).toEqual([]);
    expect(found(registry, "")).toEqual([]);
    expect(registry.find("postgres", { limit: 1 }).map(({ id }) => id)).toEqual(["incident"]);
  });

  it("finds skills in any script, with spaces or without", () => {
    const registry = new SkillRegistry([skill("a", "Rechnung prüfen"), skill("b", "請求書を送る")]);
    expect(found(registry, "RECHNUNG")).toEqual(["a"]);
    expect(found(registry, "請求書")).toEqual(["b"]);
  });

  it("gives the same answer in whatever order skills were registered", () => {
    const expected = found(new SkillRegistry(SKILLS), "postgres the customer");
    fc.assert(
      fc.property(fc.shuffledSubarray(SKILLS, { minLength: SKILLS.length }), (shuffled) => {
        expect(found(new SkillRegistry(shuffled), "postgres the customer")).toEqual(expected);
      }),
    );
  });

  it("takes the same skill twice, and refuses another one of its id and what is no skill", () => {
    const registry = new SkillRegistry(SKILLS);
    registry.register(SKILLS[0]!);
    expect(registry.all().map(({ id }) => id)).toEqual(["billing", "incident", "sql-tuning"]);
    expect(registry.get("billing")).toBe(SKILLS[1]);
    expect(registry.get("none")).toBeUndefined();
    expect(() => registry.register(skill("billing", "another"))).toThrow(
      /Another skill is registered as billing/,
    );
    expect(() => registry.register({ id: "x" } as never)).toThrow(/takes a skill made by skill\$/);
  });
});
