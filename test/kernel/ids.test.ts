import { describe, expect, test } from "vitest";
import {
  checkId,
  createIdSource,
  type HeddleError,
  ID_BYTES_MAX,
  partitionOf,
} from "../../src/kernel/index.js";

const EMOJI = "\u{1F9F5}"; // four bytes in UTF-8, two UTF-16 units

function refusal(value: unknown): HeddleError | undefined {
  try {
    checkId("the field", value);
    return undefined;
  } catch (error) {
    return error as HeddleError;
  }
}

describe("C-LOG-01: the limit of an id", () => {
  test.each([1, 500, 1023, 1024])("%i bytes of ASCII are an id", (bytes) => {
    expect(refusal("a".repeat(bytes))).toBeUndefined();
  });

  test.each([1025, 1900, 2000, 4000])(
    "%i bytes of ASCII are refused, naming field, size and limit",
    (bytes) => {
      const error = refusal("a".repeat(bytes));
      expect(error).toMatchObject({
        code: "ID_INVALID",
        details: { field: "the field", bytes, limitBytes: ID_BYTES_MAX },
      });
      expect(error?.message).toContain(`the field is ${bytes} bytes long in UTF-8; the limit is 1024`);
    },
  );

  test("four-byte characters count four", () => {
    expect(refusal(EMOJI.repeat(256))).toBeUndefined();
    expect(refusal(EMOJI.repeat(257))?.details).toMatchObject({ bytes: 1028 });
  });

  test.each([
    ["two-byte", "é", 512],
    ["three-byte", "€", 341],
  ])("%s characters count their bytes at the very limit", (_, character, most) => {
    expect(refusal(character.repeat(most))).toBeUndefined();
    expect(refusal(character.repeat(most + 1))?.code).toBe("ID_INVALID");
  });

  test.each([
    ["a number", 7, "not number"],
    ["null", null, "not null"],
    ["undefined", undefined, "not undefined"],
    ["an object", {}, "not object"],
    ["the empty text", "", "must not be empty"],
    ["a lone surrogate", "a\ud800", "well-formed"],
    ["a long text with a lone surrogate", `${"a".repeat(400)}\ud800`, "well-formed"],
    ["a NUL", "a\0b", "NUL"],
    ["__proto__", "__proto__", "__proto__"],
  ])("%s is refused", (_, value, words) => {
    const error = refusal(value);
    expect(error?.code).toBe("ID_INVALID");
    expect(error?.message).toContain(words);
  });

  test.each(["constructor", "toString", "hasOwnProperty", " ", "..", "a/b", "#", "ключ", "\n"])(
    "%j is an id like any other",
    (id) => {
      expect(refusal(id)).toBeUndefined();
    },
  );
});

describe("the partition of an execution", () => {
  // Part of the format: a directory written by one release must be read by the next. Never change these values.
  test.each([
    ["order-17", 4, 2],
    ["order-17", 16, 14],
    ["order-17", 256, 174],
    ["a", 4, 0],
    ["", 16, 5],
    ["👩‍🚀", 16, 15],
    ["0192f0c1-2345-7000-8000-000000000000", 8, 0],
  ])("%j of %i partitions", (id, partitions, expected) => {
    expect(partitionOf(id, partitions)).toBe(expected);
  });

  test("there is only one of one", () => {
    expect(partitionOf("anything", 1)).toBe(0);
  });

  test("ids spread evenly", () => {
    const counts = new Array<number>(8).fill(0);
    for (let i = 0; i < 8_000; i++) counts[partitionOf(`order-${i}`, 8)]!++;
    expect(Math.min(...counts)).toBeGreaterThan(700);
    expect(Math.max(...counts)).toBeLessThan(1_300);
  });
});

describe("new execution ids", () => {
  const FORM = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
  let seed = 1;
  const pseudoRandom = (bytes: Uint8Array): Uint8Array => {
    for (let i = 0; i < bytes.length; i++)
      bytes[i] = (seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0) >>> 24;
    return bytes;
  };

  test("are UUIDs of version 7 that carry their time", () => {
    const next = createIdSource(() => 0x0192_f0c1_2345, pseudoRandom);
    const id = next();
    expect(id).toMatch(FORM);
    expect(id.slice(0, 13)).toBe("0192f0c1-2345");
  });

  test("hold the random bytes they were given, version and variant aside", () => {
    const next = createIdSource(
      () => 1,
      (bytes) => bytes.fill(0xff),
    );
    expect(next()).toBe("00000000-0001-7000-bfff-ffffffffffff");
  });

  test("grow with every call within one millisecond, past the counter's end, and over a clock set back", () => {
    const times = [...new Array<number>(10_000).fill(1_000), 1_001, 999, 500, 1_005, 1_005];
    let call = 0;
    const next = createIdSource(() => times[Math.min(call++, times.length - 1)]!, pseudoRandom);
    let last = "";
    const seen = new Set<string>();
    for (let i = 0; i < 20_000; i++) {
      const id = next();
      expect(id > last).toBe(true);
      if (i % 997 === 0) expect(id).toMatch(FORM);
      seen.add((last = id));
    }
    expect(seen.size).toBe(20_000);
  });

  test("grow with a clock that gives fractions of milliseconds", () => {
    let time = 1_000;
    const next = createIdSource(() => (time += 0.1), pseudoRandom);
    let last = "";
    for (let i = 0; i < 1_000; i++) {
      const id = next();
      expect(id > last, `${id} after ${last}`).toBe(true);
      expect(id).toMatch(FORM);
      last = id;
    }
  });
});
