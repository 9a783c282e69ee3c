import { describe, expect, it } from "vitest";
import { columns, cut, padEnd, padStart, printable } from "../../../src/cli/render/text.js";

describe("text for a terminal", () => {
  it("spells out what would steer it", () => {
    expect(printable("a\u001b[2Jb\n\tc\u0000\u009b\u202ed")).toBe("a\\x1b[2Jb\\x0a\\x09c\\x00\\x9b\\u202ed");
    expect(printable("grüße, 注文 😀")).toBe("grüße, 注文 😀");
  });

  it("is measured in columns, not in characters", () => {
    expect(columns("order-17")).toBe(8);
    expect(columns("注文")).toBe(4);
    expect(columns("e\u0301")).toBe(1);
    expect(columns("😀")).toBe(2);
  });

  it("is cut to fit, with one mark, and never in the middle of a character", () => {
    expect(cut("abcdef", 6)).toBe("abcdef");
    expect(cut("abcdef", 4)).toBe("abc…");
    expect(cut("ab… more", 4)).toBe("ab…");
    expect(cut("注文票", 4)).toBe("注…");
    expect(cut("😀😀", 3)).toBe("😀…");
    expect(cut("abc", 0)).toBe("");
  });

  it("is padded by columns", () => {
    expect(padEnd("注", 4)).toBe("注  ");
    expect(padStart("17", 4)).toBe("  17");
    expect(padStart("12345", 4)).toBe("12345");
  });
});
