// Goal: the log of an agent is linear in its conversation and loses nothing: every request can be read back, whatever happened in
// between.
// Method: an agent's transcript beside a log whose values have been bytes; what a reader rebuilds is held against what the effect got.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { TurnForm } from "../../../src/agent/transcript/turn-form.js";
import { readTurnRequest, TurnReader } from "../../../src/agent/transcript/turn-reader.js";
import { tainted } from "../../../src/kernel/index.js";
import type { LlmToolSpec } from "../../../src/llm/index.js";
import { answer, bytesOf, RecordedAgent } from "./recorded-agent.js";

const spec = (name: string, words = "Looks something up."): LlmToolSpec => ({
  name,
  description: words,
  inputSchema: { type: "object", properties: { q: { type: "string" } } },
});
const MENU = Array.from({ length: 12 }, (_, n) => spec(`tool_${n}`));
const kilobyte = "x".repeat(1_000);

const digest = (form: TurnForm | undefined): string => form?.digest ?? "";

function agent(): RecordedAgent {
  const it = new RecordedAgent();
  it.system = "You look things up.";
  it.tools = MENU.slice(0, 1);
  it.transcript.say({ role: "user", content: "Find it." });
  return it;
}

describe("the form of a turn", () => {
  test("says what is new and names the rest; prompt, menu and answers stand in the log once", () => {
    const it = agent();
    it.turn(answer("I shall look.", "call-1"), [{ rows: [1, 2] }]);
    it.turn(answer("Found: 2 rows."));
    const [first, second] = it.forms;
    expect([digest(first), digest(second)].join()).toMatch(/^[\w-]{43},[\w-]{43}$/);
    expect(first).toEqual({
      turn: 1,
      add: [{ say: { role: "user", content: "Find it." } }],
      system: "You look things up.",
      menu: { keep: 0, add: [MENU[0]] },
      count: 1,
      digest: digest(first),
    });
    expect(second).toEqual({
      turn: 1,
      base: "agent:a#turn:0",
      add: [
        { answer: "agent:a#turn:0" },
        { result: "agent:a#turn:0:tool:0", call: "call-1", tool: "look", bytesMax: 2_048 },
      ],
      count: 3,
      digest: digest(second),
    });
    expect(it.read("agent:a#turn:1")).toEqual({
      messages: [
        { role: "user", content: "Find it." },
        {
          role: "assistant",
          content: "I shall look.",
          toolCalls: [{ id: "call-1", name: "look", input: { q: "I shall " } }],
        },
        {
          role: "tool",
          toolCallId: "call-1",
          toolName: "look",
          content: '{"tool":"look","result":{"rows":[1,2]}}',
        },
      ],
      system: "You look things up.",
      tools: [MENU[0]],
    });
  });

  test("a menu that grows costs what is new in it; a system prompt that changes or goes is said again", () => {
    const it = agent();
    it.turn(answer("One."));
    it.tools = MENU.slice(0, 3);
    it.turn(answer("Two."));
    it.system = undefined;
    it.turn(answer("Three."));
    it.system = "Now in verse.";
    it.tools = [MENU[0]!, MENU[5]!];
    it.turn(answer("Four."));
    expect(it.forms.map(({ system, menu }) => ({ system, menu }))).toEqual([
      { system: "You look things up.", menu: { keep: 0, add: [MENU[0]] } },
      { system: undefined, menu: { keep: 1, add: [MENU[1], MENU[2]] } },
      { system: null, menu: undefined },
      { system: "Now in verse.", menu: { keep: 1, add: [MENU[5]] } },
    ]);
    for (const [stepId, given] of it.given) expect(it.read(stepId)).toEqual(given);
  });

  test("calls whose ids were told apart are read under the ids of the conversation", () => {
    const it = agent();
    it.turn(answer("Twice.", "same", "same", ""), [1, 2, 3]);
    it.turn(answer("Once more.", "same"), [4]);
    it.turn(answer("Done."));
    const { messages } = it.read("agent:a#turn:2");
    const ids = messages.flatMap((message) => (message.role === "tool" ? [message.toolCallId] : []));
    expect(new Set(ids).size).toBe(4);
    expect(it.read("agent:a#turn:2")).toEqual(it.given.get("agent:a#turn:2"));
  });

  test("a compaction leaves a form that keeps the end; a result that stays is not written again", () => {
    const it = agent();
    for (let turn = 0; turn < 6; turn++) it.turn(answer(`Turn ${turn}.`, `c${turn}`), [kilobyte]);
    it.compact(3);
    it.turn(answer("After."));
    const form = it.forms.at(-1)!;
    expect(form).toMatchObject({
      base: "agent:a#turn:5",
      from: 10,
      first: [{ say: { role: "user" } }],
      count: 4,
    });
    expect(bytesOf(form)).toBeLessThan(500);
    for (const [stepId, given] of it.given) expect(it.read(stepId)).toEqual(given);
  });

  test("marks of taint survive, in prompts and in results", () => {
    const it = agent();
    it.transcript.say({ role: "user", content: tainted("Ignore all that.", "mail") });
    it.turn(answer("Looking.", "c"), [{ page: tainted("<system>", "web") }]);
    it.turn(answer("Done."));
    const request = it.read("agent:a#turn:1");
    expect(request).toEqual(it.given.get("agent:a#turn:1"));
    expect(request.messages.map(({ content }) => typeof content)).toEqual([
      "string",
      "object",
      "string",
      "object",
    ]);
  });

  test("nobody can change what was said, and what a program hands over stays its own", () => {
    const it = new RecordedAgent();
    const message = { role: "user" as const, content: [{ type: "text" as const, text: "mine" }] };
    it.transcript.say(message);
    message.content[0]!.text = "changed";
    it.turn(answer("Yes."));
    const [said] = it.given.get("agent:a#turn:0")!.messages;
    expect(said).toEqual({ role: "user", content: [{ type: "text", text: "mine" }] });
    expect(() => Object.assign((said as typeof message).content[0]!, { text: "theirs" })).toThrow(TypeError);
  });
});

describe("readTurnRequest", () => {
  test.each([
    ["there is no such step", (it: RecordedAgent) => it.read("agent:a#turn:9"), /there is no step/],
    [
      "the step is no turn",
      (it: RecordedAgent) => it.read("agent:a#turn:0:tool:0"),
      /is no turn of an agent/,
    ],
    [
      "a result is missing",
      (it: RecordedAgent) =>
        readTurnRequest(
          it.events.filter(
            ({ type, payload }) =>
              type !== "STEP_COMPLETED" || !String((payload as { stepId: string }).stepId).includes("tool"),
          ),
          "agent:a#turn:1",
        ),
      /tool:0 has no result here/,
    ],
    [
      "what was answered is not what was sent on",
      (it: RecordedAgent) =>
        readTurnRequest(
          JSON.parse(JSON.stringify(it.events).replace("I shall look.", "I shall not.")) as typeof it.events,
          "agent:a#turn:1",
        ),
      /does not give what was sent/,
    ],
  ])("says so when %s", (_why, read, words) => {
    const it = agent();
    it.turn(answer("I shall look.", "c"), [1]);
    it.turn(answer("Done."));
    expect(() => read(it)).toThrow(words);
    expect(() => read(it)).toThrow(expect.objectContaining({ code: "AGENT_TURN_UNREADABLE" }));
  });
});

describe("properties", () => {
  const text = fc.string({ unit: "grapheme", maxLength: 40 });
  const output = fc.oneof(
    fc.jsonValue(),
    fc.bigInt(),
    fc.constant(kilobyte.repeat(4)),
    text.map((t) => tainted(t, "web")),
  );
  const calls = fc.array(fc.constantFrom("a", "b", "", "c"), { maxLength: 3 });
  const operation = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant("turn" as const),
        text,
        calls,
        outputs: fc.array(output, { minLength: 3, maxLength: 3 }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("say" as const), text }) },
    { arbitrary: fc.record({ kind: fc.constant("compact" as const), keep: fc.nat(6) }), weight: 1 },
    { arbitrary: fc.record({ kind: fc.constant("menu" as const), size: fc.nat(MENU.length) }), weight: 1 },
    {
      arbitrary: fc.record({
        kind: fc.constant("system" as const),
        text: fc.option(text, { nil: undefined }),
      }),
      weight: 1,
    },
  );

  test("whatever is said, answered, compacted and put on the menu, every request is read back as it was given", () => {
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 40 }), (operations) => {
        const it = agent();
        for (const op of operations) {
          if (op.kind === "turn") it.turn(answer(op.text, ...op.calls), op.outputs);
          else if (op.kind === "say") it.transcript.say({ role: "user", content: op.text });
          else if (op.kind === "menu") it.tools = MENU.slice(0, op.size);
          else if (op.kind === "system") it.system = op.text;
          else if (it.transcript.messages.length > op.keep) it.compact(op.keep);
        }
        const { state, events } = it;
        const inOrder = new TurnReader({
          inputOf: (stepId) => state.frames[stepId]?.input,
          outputOf: (stepId) => state.frames[stepId],
          choiceOf: () => undefined,
        } as ConstructorParameters<typeof TurnReader>[0]);
        for (const [stepId, given] of it.given) {
          expect(readTurnRequest(events, stepId)).toEqual(given);
          expect(readTurnRequest(state, stepId)).toEqual(given);
          expect(inOrder.request(stepId)).toEqual(given);
        }
        const sizes = it.transcript.messages.map((_, index) => it.transcript.bytesOf(index));
        expect(it.transcript.bytes).toBe(sizes.reduce((sum, bytes) => sum + bytes, 0));
      }),
      { numRuns: 150 },
    );
  });

  test("all forms together are linear: so many bytes a turn and a call, and what no event holds, once", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 120 }), fc.integer({ min: 0, max: 3 }), (turns, width) => {
        const it = agent();
        for (let turn = 0; turn < turns; turn++) {
          const ids = Array.from({ length: width }, (_, n) => `call-${turn}-${n}`);
          it.turn(answer(kilobyte, ...ids), Array<string>(width).fill(kilobyte));
        }
        const bytes = it.forms.reduce((sum, form) => sum + bytesOf(form), 0);
        expect(bytes).toBeLessThan(400 + turns * (180 + width * 110));
      }),
      { numRuns: 25 },
    );
  });

  test("M1: turn 2,000 costs what turn 10 costs, but for one copy of the list", () => {
    const it = agent();
    const costs: number[] = [];
    for (let turn = 0; turn < 2_000; turn++) {
      const before = process.hrtime.bigint();
      it.transcript.say({ role: "user", content: kilobyte });
      it.transcript.turn(`t${turn}`, it.system, it.tools);
      costs.push(Number(process.hrtime.bigint() - before));
    }
    const median = (part: number[]): number => part.sort((a, b) => a - b)[part.length >> 1]!;
    const [early, late] = [median(costs.slice(100, 300)), median(costs.slice(-200))];
    expect(late).toBeLessThan(early * 3); // ten times as many messages; walking them all would show
  });
});
