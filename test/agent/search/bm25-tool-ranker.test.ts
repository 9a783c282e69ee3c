import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Bm25ToolRanker, type ToolDoc } from "../../../src/agent/index.js";
import { rankedIds } from "../../../src/agent/search/tool-ranker.js";

function doc(id: string, fields: Partial<ToolDoc> = {}): ToolDoc {
  return { id, tags: [], aliases: [], ...fields };
}

function found(docs: readonly ToolDoc[], query: string, stopwords?: readonly string[]): string[] {
  return new Bm25ToolRanker(docs, stopwords && { stopwords }).rank(query, docs.length).map(({ id }) => id);
}

const catalog = [
  doc("charge_invoice", {
    description: "Create a payment request",
    tags: ["billing"],
    aliases: ["bill the customer", "collect payment"],
  }),
  doc("send_mail", { description: "Send a mail to the people in a list" }),
  doc("listOpenTickets", { description: "What support has not answered" }),
];

describe("Bm25ToolRanker", () => {
  it("finds a tool by what its users call it, which its name and description do not say", () => {
    expect(found(catalog, "bill the customer for the March invoice")).toEqual(["charge_invoice"]);
  });

  it("finds nothing where no word is shared", () => {
    expect(found(catalog, "weather in Paris")).toEqual([]);
    expect(found([], "anything")).toEqual([]);
    expect(found(catalog, "")).toEqual([]);
  });

  it("reads a name in camel case as its words, and as one word", () => {
    expect(found(catalog, "open tickets")).toEqual(["listOpenTickets"]);
    expect(found(catalog, "listopentickets")).toEqual(["listOpenTickets"]);
  });

  it("lets the name weigh more than aliases, aliases as much as tags, and both more than the description", () => {
    const word = fc.stringMatching(/^[a-z]{3,8}$/);
    fc.assert(
      fc.property(fc.uniqueArray(word, { minLength: 6, maxLength: 6 }), ([term, a, b, c, d, other]) => {
        const docs = [
          doc(a!, { aliases: [other!], tags: [other!], description: term! }),
          doc(b!, { aliases: [other!], tags: [term!], description: other! }),
          doc(c!, { aliases: [term!], tags: [other!], description: other! }),
          doc(`${term}_${d}`, { aliases: [other!], tags: [other!], description: other! }),
        ];
        const hits = new Bm25ToolRanker(docs, { stopwords: [] }).rank(term!, 4);
        const score = (id: string) => hits.find((hit) => hit.id === id)!.score!;
        expect(score(`${term}_${d}`)).toBeGreaterThan(score(c!));
        expect(score(c!)).toBe(score(b!));
        expect(score(b!)).toBeGreaterThan(score(a!));
      }),
    );
  });

  it("counts a word of several fields once, with their weights together, so it does not pass for two words", () => {
    const docs = [
      doc("one", { aliases: ["refund"], tags: ["refund"], description: "refund refund refund" }),
      doc("two", { description: "refund an order" }),
    ];
    expect(found(docs, "refund order")[0]).toBe("two");
  });

  it("gives equal ones in the order of their ids, whatever order they were listed in", () => {
    const docs = ["c", "a", "b"].map((name) => doc(name, { tags: ["same"] }));
    expect(found(docs, "same")).toEqual(["a", "b", "c"]);
    expect(found([...docs].reverse(), "same")).toEqual(["a", "b", "c"]);
  });

  it("gives the same for the same, and no more than it is asked for", () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(5), (query, limit) => {
        const hits = new Bm25ToolRanker(catalog).rank(query, limit);
        expect(hits.length).toBeLessThanOrEqual(limit);
        expect(new Bm25ToolRanker(catalog).rank(query, limit)).toEqual(hits);
        expect(hits.every(({ score }) => score! > 0)).toBe(true);
      }),
    );
  });

  it("reads 16 different words of a query, and no further than its first 512 characters", () => {
    const noise = Array.from({ length: 15 }, (_, index) => `noise${index}`);
    expect(found(catalog, [...noise, ...noise, "invoice"].join(" "))).toEqual(["charge_invoice"]);
    expect(found(catalog, [...noise, "another", "invoice"].join(" "))).toEqual([]);
    expect(found(catalog, `${"-".repeat(505)}invoice`)).toEqual(["charge_invoice"]);
    expect(found(catalog, `${"-".repeat(506)}invoice`)).toEqual([]);
    expect(found(catalog, `${"😀".repeat(505)}invoice`)).toEqual(["charge_invoice"]);
  });

  it("finds tools in any script", () => {
    const docs = [doc("a", { aliases: ["請求書を送る"] }), doc("b", { aliases: ["Rechnung prüfen"] })];
    expect(found(docs, "請求書")).toEqual(["a"]);
    expect(found(docs, "rechnung PRÜFEN")).toEqual(["b"]);
  });
});

describe("Stop words of Bm25ToolRanker", () => {
  const docs = [doc("a", { aliases: ["clear the cache"] }), doc("b", { aliases: ["cancel it or not"] })];

  it("are left out of a query: nothing is found for containing the, can, or or it", () => {
    expect(found(docs, "bill the customer")).toEqual([]);
    expect(found(docs, "can it send mail or fax")).toEqual([]);
  });

  it("are kept in a query that has no other words", () => {
    expect(found(docs, "the")).toEqual(["a"]);
    expect(found(docs, "or it")).toEqual(["b"]);
  });

  it("can be turned off, or be others; an entry of several words stands for each", () => {
    expect(found(docs, "bill the customer", [])).toEqual(["a"]);
    expect(found(docs, "clear the way", ["clear the"])).toEqual([]);
    expect(found(docs, "CLEAR it", ["clear the"])).toEqual(["b"]);
  });

  it("are at most 256 entries", () => {
    const entries = (count: number) => Array.from({ length: count }, (_, index) => `w${index}`);
    expect(() => new Bm25ToolRanker(docs, { stopwords: entries(256) })).not.toThrow();
    expect(() => new Bm25ToolRanker(docs, { stopwords: entries(257) })).toThrow(
      "stopwords may have 256 entries, not 257.",
    );
  });
});

describe("What is read of a ranker's answer", () => {
  const known = new Set(["a", "b", "c"]);
  const ranker = (hits: () => Iterable<{ id: string }>) => ({ kind: "test", rank: () => hits() });

  it("ends at the limit, however much more there is", async () => {
    let read = 0;
    function* endless() {
      for (;;) {
        read++;
        yield { id: "abc"[read % 3]! };
      }
    }
    expect(await rankedIds(ranker(endless), "q", 2, known)).toEqual(["b", "c"]);
    expect(read).toBe(2);
  });

  it("is each known id once; unknown and repeated ones use up the limit and find nothing", async () => {
    const hits = () => ["x", "a", "a", "b"].map((id) => ({ id }));
    expect(await rankedIds(ranker(hits), "q", 3, known)).toEqual(["a"]);
    expect(await rankedIds(ranker(hits), "q", 4, known)).toEqual(["a", "b"]);
    expect(await rankedIds(ranker(hits), "q", 0, known)).toEqual([]);
  });
});
