import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  readSkillActivation,
  type SkillActivationOptions,
} from "../../../src/agent/skills/skill-activation.js";
import { isOfferable, skillIndex } from "../../../src/agent/skills/skill-index.js";
import { skillsOffer } from "../../../src/agent/skills/skills-offer.js";
import { type SkillDefinition, skill$ } from "../../../src/kernel/index.js";

const skill = (id: string, description = "x", tags?: readonly string[]): SkillDefinition =>
  skill$({ id, description, ...(tags && { tags }), instructions: "i" });
const numbered = (count: number) =>
  Array.from({ length: count }, (_, index) => skill(`s${String(index).padStart(3, "0")}`));

describe("The index of skills", () => {
  it("has a line for each: id, description and tags, in one line whatever they hold", () => {
    expect(skillIndex([skill("a", "Tunes\n\n+2 more", ["sql", "fast"]), skill("b")], 50, 8192).text).toBe(
      "a: Tunes +2 more [sql, fast]\nb: x",
    );
    expect(skillIndex([], 50, 8192)).toEqual({ text: "", listed: [] });
  });

  it("lists as many as it may, within its bytes, and counts the others", () => {
    const skills = numbered(60);
    const index = skillIndex(skills, 50, 8192);
    expect(index.listed).toEqual(skills.slice(0, 50));
    expect(index.text.split("\n").at(-1)).toBe("+10 more");
    const small = skillIndex(skills, 50, 40);
    expect(small.text).toBe("s000: x\ns001: x\ns002: x\ns003: x\n+56 more");
    expect(skillIndex(skills, 50, 3)).toEqual({ text: "+60 more", listed: [] });
  });

  it("is never over its bytes where it lists anything, and lists a beginning of what it is given", () => {
    const any = fc.record({
      id: fc.stringMatching(/^[a-zé請]{1,9}$/),
      description: fc.string({ minLength: 1 }),
    });
    fc.assert(
      fc.property(
        fc.uniqueArray(any, { selector: ({ id }) => id, maxLength: 12 }),
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 300 }),
        (given, maxIndex, maxBytes) => {
          const skills = given.map(({ id, description }) => skill(id, `d${description}`));
          const { text, listed } = skillIndex(skills, maxIndex, maxBytes);
          expect(listed).toEqual(skills.slice(0, listed.length));
          expect(listed.length).toBeLessThanOrEqual(maxIndex);
          if (listed.length > 0) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxBytes);
          const others = skills.length - listed.length;
          expect(text.endsWith(`+${others} more`)).toBe(others > 0);
          expect(text.split("\n").length).toBe(listed.length + Number(others > 0 || skills.length === 0));
        },
      ),
    );
  });

  it("offers no id of more than 64 characters, nor one with control characters", () => {
    expect(isOfferable(skill("x".repeat(64)))).toBe(true);
    expect(isOfferable(skill("😀".repeat(64)))).toBe(true);
    expect(isOfferable(skill("x".repeat(65)))).toBe(false);
    for (const control of ["\n", "\t", "\u0007", "\u0085", "\u2028"])
      expect(isOfferable(skill(`a${control}b`))).toBe(false);
  });
});

describe("What a run may take up", () => {
  const offer = (options: SkillActivationOptions, selected: readonly SkillDefinition[] = []) =>
    skillsOffer(readSkillActivation(options, undefined, true), selected);
  const ids = (skills: readonly SkillDefinition[]) => skills.map(({ id }) => id);

  it("is the first 50 by id within 8 KiB, in whatever order they come, without those it begins with", () => {
    const skills = numbered(60);
    const { ids: offered, text, findable } = offer({ catalog: skills.toReversed() }, [skills[0]!]);
    expect(offered).toEqual(ids(skills.slice(1, 51)));
    expect(text).toContain("s001: x\n");
    expect(text).toContain("+9 more");
    expect(findable).toBe(false);
    const long = numbered(50).map(({ id }) => skill(id, "d".repeat(1000)));
    expect(offer({ catalog: long }).ids).toHaveLength(8);
  });

  it("is all of them where searches find them: with one fixed line, or with the index as well", () => {
    const skills = numbered(60);
    const search = offer({ catalog: skills, discovery: "search", maxIndexBytes: 1 });
    expect(search.ids).toEqual(ids(skills));
    expect(search.findable).toBe(true);
    expect(search.text).not.toContain("s000");
    expect(offer({ catalog: numbered(3), discovery: "search" }).text).toBe(search.text);
    const both = offer({ catalog: skills, discovery: "both" });
    expect(both.ids).toEqual(ids(skills));
    expect(both.text).toContain(search.text);
    expect(both.text).toContain("s049: x\n+10 more");
    expect(offer({ catalog: skills, discovery: "both", maxIndexBytes: 5 }).ids).toEqual(ids(skills));
  });

  it("is nothing where there is nothing left, and then nothing is said of skills", () => {
    const [one] = numbered(1);
    expect(offer({ catalog: [one!], discovery: "both" }, [one!])).toEqual({
      ids: [],
      findable: false,
      text: undefined,
    });
  });

  it.each([
    ["skillActivation.catalog", {}],
    ["skillActivation.catalog", { catalog: "all" }],
    ["skillActivation.maxActive", { catalog: [], maxActive: 0 }],
    ["skillActivation.maxIndex", { catalog: [], maxIndex: 0 }],
    ["skillActivation.maxIndexBytes", { catalog: [], maxIndexBytes: -1 }],
    ["skillActivation.maxInstructionBytes", { catalog: [], maxInstructionBytes: 0.5 }],
    ["skillActivation.discovery", { catalog: [], discovery: "all" }],
    ["skillActivation.discovery", { catalog: [], discovery: "search" }],
    ["skillActivation.discovery", { catalog: [], discovery: "both" }],
    ["skillActivation.skillRanker", { catalog: [], skillRanker: { kind: "x", rank: () => [] } }],
    ["skillActivation.skillRanker", { catalog: [], discovery: "search", skillRanker: class {} }],
    ["skillActivation.maxIndexBytes", { catalog: numbered(1), maxIndexBytes: 3 }],
    ["skillActivation.max", { catalog: [], max: 1 }],
  ])("is refused where its options make no sense: %s", (option, options) => {
    expect(() => readSkillActivation(options as SkillActivationOptions, undefined, false)).toThrow(
      expect.objectContaining({ code: "AGENT_LOOP_CONFIG_INVALID", option }),
    );
  });
});
