import { describe, expect, it } from "vitest";
import { wordsOf } from "../../src/kernel/index.js";

describe("Words of a text", () => {
  it("are its runs of letters and digits, in lower case and in order", () => {
    expect(wordsOf("Bill the customer: charge_invoice(2) -- now!")).toEqual([
      "bill",
      "the",
      "customer",
      "charge",
      "invoice",
      "2",
      "now",
    ]);
    expect(wordsOf(" _ -- ")).toEqual([]);
  });

  it("are the same however a text is composed or how wide its letters are", () => {
    expect(wordsOf("Rechnung pru\u0308fen")).toEqual(wordsOf("RECHNUNG PRÜFEN"));
    expect(wordsOf("ＡＰＩ")).toEqual(["api"]);
  });

  it("keep the marks that belong to their letters", () => {
    expect(wordsOf("हिन्दी भाषा")).toEqual(["हिन्दी", "भाषा"]);
  });

  it("are pairs of characters where a script has no spaces, and a lone character is itself", () => {
    expect(wordsOf("請求書")).toEqual(["請求", "求書"]);
    expect(wordsOf("データ")).toEqual(["デー", "ータ"]);
    expect(wordsOf("ใบ")).toEqual(["ใบ"]);
    expect(wordsOf("項")).toEqual(["項"]);
  });

  it("are told apart where such a script meets another in one run", () => {
    expect(wordsOf("API仕様v2")).toEqual(["api", "仕様", "v2"]);
  });
});
