import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chunkDeltas } from "../../../src/agent/model/chunk-deltas.js";

function chunksOf(deltas: readonly string[], options?: Parameters<typeof chunkDeltas>[1]): string[] {
  const chunks: string[] = [];
  const { push, flush } = chunkDeltas((text) => void chunks.push(text), options);
  for (const delta of deltas) push(delta);
  flush();
  return chunks;
}

describe("chunkDeltas", () => {
  it("emits at the end of a sentence, once the piece is long enough", () => {
    expect(chunksOf(["Hi. The", " build is", " green. Deploy", "ing now."], { minChars: 10 })).toEqual([
      "Hi. The build is green. ",
      "Deploying now.",
    ]);
  });

  it("takes lines and sentences without a space behind them for ends too", () => {
    expect(chunksOf(["- one\n- two\n", "- three"], { minChars: 4 })).toEqual(["- one\n- two\n", "- three"]);
    expect(chunksOf(["完成了。", "下一步"], { minChars: 2 })).toEqual(["完成了。", "下一步"]);
  });

  it("does not take a number for two sentences", () => {
    expect(chunksOf(["It costs 3", ".", "50 a day, or more. ", "Buy?"], { minChars: 5 })).toEqual([
      "It costs 3.50 a day, or more. ",
      "Buy?",
    ]);
  });

  it("has 40 as the default of minChars", () => {
    expect(chunksOf(["a".repeat(37), ". ", "b".repeat(37), ". "])).toHaveLength(1);
    expect(chunksOf(["a".repeat(38), ". ", "b".repeat(38), ". "])).toHaveLength(2);
  });

  it("cuts a text without sentences between words, and words without end between characters", () => {
    expect(chunksOf(["aaa bbb ccc ddd"], { minChars: 4, maxChars: 10 })).toEqual(["aaa bbb ccc ", "ddd"]);
    expect(chunksOf(["🙂🙂🙂", "🙂"], { minChars: 1, maxChars: 3 }).join("")).toBe("🙂🙂🙂🙂");
  });

  it("emits nothing for an empty text, and nothing twice", () => {
    expect(chunksOf([])).toEqual([]);
    expect(chunksOf(["", ""])).toEqual([]);
  });

  it("keeps texts of different calls apart", () => {
    const [one, other] = [{ of: "one" }, { of: "other" }];
    const chunks: [string, unknown][] = [];
    const { push } = chunkDeltas((text, { of }: { of: string }) => void chunks.push([text, of]), {
      minChars: 4,
    });
    push("Some", one);
    push("Else", other);
    push("thing. ", one);
    push.flush(other);
    expect(chunks).toEqual([
      ["Something. ", "one"],
      ["Else", "other"],
    ]);
  });

  it("changes nothing of the text and holds back less than maxChars (property)", () => {
    const text = fc.array(
      fc.string({ unit: fc.constantFrom("a", " ", ".", "\n", "!", "。", "🙂"), maxLength: 9 }),
    );
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 12 }), (deltas, minChars) => {
        const chunks: string[] = [];
        let pushed = 0;
        const { push, flush } = chunkDeltas((chunk) => void chunks.push(chunk), { minChars, maxChars: 20 });
        for (const delta of deltas) {
          push(delta);
          pushed += delta.length;
          expect(pushed - chunks.join("").length).toBeLessThan(20);
        }
        for (const chunk of chunks) expect(chunk.length).toBeGreaterThanOrEqual(Math.min(minChars, 19));
        flush();
        expect(chunks.join("")).toBe(deltas.join(""));
      }),
    );
  });

  it.each([{ minChars: 0 }, { minChars: 1.5 }, { minChars: 10, maxChars: 9 }])("refuses %o", (options) => {
    expect(() => chunkDeltas(() => {}, options)).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
  });
});
