import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cutOf, type Measured } from "../../../src/agent/compaction/cut.js";
import {
  type CompactionOptions,
  compactionComplaint,
  compactionSettings,
} from "../../../src/agent/compaction/options.js";
import type { LlmMessage } from "../../../src/llm/index.js";

/** `u`, `a`: a message. `2`: an assistant with two calls, and their results. `r`: an assistant that reasoned. `s`: a summary. */
function conversation(script: string, bytes: number | readonly number[] = 10): Measured {
  const messages: LlmMessage[] = [];
  for (const [place, sign] of script.split("").entries()) {
    const count = Number(sign) || 0;
    const toolCalls = Array.from({ length: count }, (_, i) => ({
      id: `${place}.${i}`,
      name: "t",
      input: {},
    }));
    if (sign === "u" || sign === "s") messages.push({ role: "user", content: sign });
    else if (sign === "r")
      messages.push({ role: "assistant", content: "", reasoning: [{ kind: "reasoning", provider: "p" }] });
    else messages.push({ role: "assistant", content: "", ...(count > 0 && { toolCalls }) });
    for (const { id } of toolCalls)
      messages.push({ role: "tool", toolCallId: id, toolName: "t", content: "done" });
  }
  const bytesOf = (index: number): number => (typeof bytes === "number" ? bytes : bytes[index]!);
  return {
    messages,
    bytes: messages.reduce((sum, _, index) => sum + bytesOf(index), 0),
    bytesOf,
    isSummary: (index) => script.startsWith("s") && index === 0,
  };
}

const cut = (subject: Measured, options: Omit<CompactionOptions, "toolId">) =>
  cutOf(subject, compactionSettings({ toolId: "summarize", ...options }));

describe("by messages", () => {
  it("waits until there are more than afterMessages", () => {
    const options = { afterMessages: 4, keepRecent: 2 };
    expect(cut(conversation("uaua"), options)).toBeUndefined();
    expect(cut(conversation("uauau"), options)).toEqual({ from: 3, shape: "tail" });
  });

  it("keeps 8 messages unless it is told otherwise, and one less than afterMessages where that is fewer", () => {
    expect(cut(conversation("ua".repeat(21)), { afterMessages: 40 })?.from).toBe(34);
    expect(cut(conversation("uauaua"), { afterMessages: 4 })?.from).toBe(3);
  });
});

describe("by bytes", () => {
  it("happens though there are few messages, and not before the bytes are over", () => {
    expect(cut(conversation("uau", [10, 10, 80]), { afterBytes: 100 })).toBeUndefined();
    expect(cut(conversation("uau", [10, 11, 80]), { afterBytes: 100 })).toEqual({ from: 2, shape: "tail" });
  });

  it("keeps the longest run of the newest that has at most half of afterBytes", () => {
    const subject = conversation("uauaua", [70, 10, 10, 20, 20, 10]);
    expect(cut(subject, { afterBytes: 100, keepRecent: 5 })?.from).toBe(3);
    expect(cut(subject, { afterBytes: 120, keepRecent: 5 })?.from).toBe(2);
  });

  it("keeps no more than keepRecent, however light they are", () => {
    expect(cut(conversation("uauaua", [99, 1, 1, 1, 1, 1]), { afterBytes: 100, keepRecent: 3 })?.from).toBe(
      3,
    );
  });

  it("keeps the newest message, however heavy it is", () => {
    expect(cut(conversation("uau", [10, 10, 500]), { afterBytes: 100 })?.from).toBe(2);
  });

  it("skips a turn in which one message alone is over", () => {
    expect(cut(conversation("u", [500]), { afterBytes: 100 })).toBeUndefined();
  });

  it("decides where both are over", () => {
    const subject = conversation("uauaua", [10, 10, 10, 30, 30, 30]);
    expect(cut(subject, { afterMessages: 5, afterBytes: 100, keepRecent: 4 })?.from).toBe(5);
  });
});

describe("rounds of tools", () => {
  it("folds a round that the cut would divide", () => {
    // u, a(2) t t, a, u
    expect(cut(conversation("u2au"), { afterMessages: 5, keepRecent: 3 })?.from).toBe(4);
  });

  it("keeps the round the model is about to see whole, though it is more than keepRecent", () => {
    expect(cut(conversation("uau3"), { afterMessages: 5, keepRecent: 2 })?.from).toBe(3);
  });

  it("keeps it whole though it has more bytes than it may", () => {
    expect(cut(conversation("ua2", [10, 10, 10, 90, 90]), { afterBytes: 100 })?.from).toBe(2);
  });

  it("is never divided, and always ends what is summarized (property)", () => {
    const scripts = fc.string({
      unit: fc.constantFrom("u", "a", "1", "2", "3"),
      minLength: 1,
      maxLength: 30,
    });
    const options = fc.record({
      afterMessages: fc.integer({ min: 3, max: 20 }),
      afterBytes: fc.integer({ min: 1, max: 500 }),
      keepRecent: fc.integer({ min: 1, max: 2 }),
    });
    fc.assert(
      fc.property(scripts, options, fc.integer({ min: 1, max: 100 }), (script, given, bytes) => {
        const subject = conversation(script, bytes);
        const found = cut(subject, given);
        if (!found) return;
        expect(found.from).toBeGreaterThan(0);
        expect(found.from).toBeLessThan(subject.messages.length);
        expect(subject.messages[found.from]!.role).not.toBe("tool");
      }),
    );
  });
});

describe("an earlier summary", () => {
  it("is folded with what came after it", () => {
    expect(cut(conversation("saua", [50, 30, 10, 20]), { afterBytes: 100 })?.from).toBe(2);
  });

  it("is not summarized by itself: no call is paid for that folds nothing", () => {
    expect(cut(conversation("s1", [20, 10, 500]), { afterBytes: 100 })).toBeUndefined();
    expect(cut(conversation("sr", [20, 500]), { afterBytes: 100 })).toBeUndefined();
  });
});

describe("a conversation with reasoning", () => {
  it("is retold as a whole, and only what the model is about to see stays", () => {
    expect(cut(conversation("ur2"), { afterMessages: 4 })).toEqual({ from: 3, shape: "retold" });
    expect(cut(conversation("uru"), { afterMessages: 2 })).toEqual({ from: 2, shape: "retold" });
  });

  it("is left alone until it is time", () => {
    expect(cut(conversation("ur2"), { afterMessages: 5 })).toBeUndefined();
  });
});

describe("options", () => {
  it.each([
    [{ toolId: "s" }, /afterMessages or afterBytes/],
    [{ toolId: "", afterBytes: 1 }, /toolId/],
    [{ toolId: "s", afterMessages: 1 }, /at least 2/],
    [{ toolId: "s", afterBytes: 0.5 }, /afterBytes/],
    [{ toolId: "s", afterMessages: 8, keepRecent: 8 }, /keepRecent must be less/],
    [{ toolId: "s", afterMessages: 8, keepRecent: 0 }, /keepRecent/],
    [{ toolId: "s", afterMessages: 8, keepLast: 2 }, /no option keepLast/],
    [null, /must be an object/],
  ])("%o is refused", (options, complaint) => {
    expect(compactionComplaint(options)).toMatch(complaint);
  });

  it.each([{ afterBytes: 1 }, { afterMessages: 2 }, { afterMessages: 40, keepRecent: 8 }])(
    "%o is taken",
    (options) => {
      expect(compactionComplaint({ toolId: "s", ...options })).toBeUndefined();
    },
  );
});
