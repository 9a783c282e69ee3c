import { describe, expect, it } from "vitest";
import { selectedSkillsOf } from "../../../src/agent/index.js";
import type { EventEnvelope } from "../../../src/kernel/index.js";

let sequence = 0;
const decided = (decisionId: string, choice: unknown, source?: string): EventEnvelope => ({
  executionId: "x",
  sequence: sequence++,
  type: "DECISION_RECORDED",
  timestamp: 0,
  payload: { decisionId, choice, ...(source !== undefined && { source }) },
});
const activated = (loop: string, skill: string, verdict = "activated", source = "agent-skill-activation") =>
  decided(`${loop}#turn:0:tool:0:skill`, { skill, verdict }, source);

describe("selectedSkillsOf", () => {
  const events = [
    decided("agent:a#skills", ["x", "y"], "agent-skills"),
    decided("agent:b#skills", ["y", "none"]),
    activated("agent:a", "z"),
    activated("agent:a", "z"),
    activated("agent:b", "x"),
  ];

  it("tells which skills were named before the first turn and which were taken up, each once, in all and by loop", () => {
    expect(selectedSkillsOf(events)).toEqual({
      upfront: ["x", "y", "none"],
      activated: ["z", "x"],
      byLoop: {
        "agent:a": { upfront: ["x", "y"], activated: ["z"] },
        "agent:b": { upfront: ["y", "none"], activated: ["x"] },
      },
    });
  });

  it("reads one loop alone, and gives the same of an export", () => {
    const one = { upfront: ["y", "none"], activated: ["x"] };
    const exported = JSON.parse(JSON.stringify(events)) as EventEnvelope[];
    expect(selectedSkillsOf(exported, { loopId: "agent:b" })).toEqual({ ...one, byLoop: { "agent:b": one } });
    expect(selectedSkillsOf(events, { loopId: "agent" })).toEqual({ upfront: [], activated: [], byLoop: {} });
  });

  it("lists no skill that was refused, and no decision of anybody else", () => {
    const others = [
      activated("a", "r", "instructions_refused"),
      activated("a", "own", "activated", "my-app"),
      decided("a#skills", ["own"], "my-app"),
      decided("a#skills:more", ["own"]),
      decided("a#turn:0:tool:0:skill", { skill: "own", verdict: "activated" }),
      decided("a#turn:0:tool:0:delivery", { skill: "own", verdict: "same" }, "agent-skill-delivery"),
      { ...decided("a#skills", ["own"]), type: "my-event" },
    ];
    expect(selectedSkillsOf(others)).toEqual({ upfront: [], activated: [], byLoop: {} });
  });

  it("keeps its head, whatever the events hold", () => {
    const odd = [
      decided("a#skills", "[sensitive]"),
      decided("a#skills", [1, null, "x"]),
      decided("a#turn:0:tool:0:skill", null, "agent-skill-activation"),
      { ...decided("a#skills", []), payload: null },
      { ...decided("a#skills", []), payload: { decisionId: 1 } },
    ];
    expect(selectedSkillsOf(odd).upfront).toEqual(["x"]);
  });

  it("gives loops in an ordinary object, also one that is called __proto__, and ids with lines in them", () => {
    const { byLoop } = selectedSkillsOf([decided("__proto__#skills", ["x"]), decided("a\nb#skills", ["y"])]);
    expect(Object.getPrototypeOf(byLoop)).toBe(Object.prototype);
    expect(Object.keys(byLoop)).toEqual(["__proto__", "a\nb"]);
  });
});
