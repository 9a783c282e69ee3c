// The search for what may not be read: wherever it stands, in whatever form programs pass text on.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromWire, SecretTexts, toWire } from "../../src/kernel/index.js";

const textsOf = (...values: readonly unknown[]): SecretTexts => {
  const texts = new SecretTexts("sensitive");
  for (const value of values) texts.add(value);
  return texts;
};
const scrubbed = (value: unknown, ...secrets: readonly unknown[]): unknown =>
  fromWire(textsOf(...secrets).scrub(toWire(value)));

/** Text that stands for itself in every form: what tests look for is not in what they put around it. */
const secrets = fc
  .string({ minLength: 6, maxLength: 40, unit: "binary" })
  .filter((text) => text.isWellFormed());
const surroundings = fc.string({ maxLength: 12 });

describe("SecretTexts", () => {
  it.each([[Number.NaN], [[1, Number.NaN]], [{ a: Number.NaN }], [new Map([["a", Number.NaN]])]])(
    "does not take NaN for something found: %j",
    (value) => {
      expect(textsOf("a secret of some length").isIn(toWire(value))).toBe(false);
    },
  );

  it("finds a secret in any text around it, in every form (property, S1)", () => {
    const forms: readonly ((text: string) => string)[] = [
      (text) => text,
      (text) => JSON.stringify(text),
      (text) => encodeURIComponent(text),
      (text) => new URLSearchParams({ q: text }).toString(),
      (text) => Buffer.from(text).toString("base64"),
      (text) => Buffer.from(text).toString("base64url"),
      (text) => Buffer.from(text).toString("hex"),
      (text) => Buffer.from(text).toString("hex").toUpperCase(),
    ];
    fc.assert(
      fc.property(
        secrets,
        surroundings,
        surroundings,
        fc.constantFrom(...forms),
        (secret, before, after, form) => {
          const texts = textsOf(secret);
          expect(texts.isInText(before + form(secret) + after)).toBe(true);
        },
      ),
      { numRuns: 500 },
    );
  });

  it("finds it in the base64 of something longer, at all three alignments (property, S1)", () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 10, maxLength: 40 }),
        surroundings,
        surroundings,
        (secret, before, after) => {
          const text = Buffer.from(before + secret + after).toString("base64");
          expect(textsOf(secret).isInText(text)).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
  });

  it("finds it wherever a user could put it in a value, and leaves the value otherwise as it was (property)", () => {
    const canary = "canary-7f3a9c";
    const holders = fc.letrec<{ any: unknown }>((tie) => ({
      any: fc.oneof(
        { depthSize: "small", withCrossShrink: true },
        fc.constant<unknown>(canary),
        fc.constant<unknown>(Buffer.from(`<${canary}>`)),
        fc.constant<unknown>(new TextEncoder().encode(canary).buffer),
        tie("any").map((inner): unknown => ({ plain: 1, inner })),
        tie("any").map((inner): unknown => [inner, inner]),
        tie("any").map((inner): unknown => new Map([["k", inner]])),
        tie("any").map((inner): unknown => new Map([[inner, 1]])),
        tie("any").map((inner): unknown => new Set([inner])),
        tie("any").map((inner): unknown => Object.assign(new Error("e", { cause: inner }), { inner })),
        fc.constant<unknown>({ [`key ${canary}`]: 1 }),
        fc.constant<unknown>(new RangeError(`about ${canary}`)),
      ),
    })).any;
    fc.assert(
      fc.property(holders, (value) => {
        const texts = textsOf(canary);
        const wire = toWire(value);
        expect(texts.isIn(wire)).toBe(true);
        expect(texts.isIn(texts.scrub(wire))).toBe(false);
        fromWire(texts.scrub(wire)); // references still mean what they did
      }),
      { numRuns: 300 },
    );
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const wire = toWire(value);
        expect(textsOf(canary).scrub(wire)).toBe(wire);
      }),
    );
  });

  it("replaces nothing but the secret", () => {
    expect(scrubbed({ url: "https://x/?k=hunter2-hunter2&n=1", n: 5, ok: true }, "hunter2-hunter2")).toEqual({
      url: "https://x/?k=[sensitive]&n=1",
      n: 5,
      ok: true,
    });
    expect(scrubbed([4111111111111111, 12n, 2n ** 70n], 4111111111111111, 2n ** 70n)).toEqual([
      "[sensitive]",
      12n,
      "[sensitive]",
    ]);
  });

  it("finds the lines of a key, and leaves those that every key has (S1)", () => {
    const pem =
      "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEF\nAAOCBKcwggSjAgEAAoIBAQC7VJTU\n-----END KEY-----";
    expect(scrubbed("near AAOCBKcwggSjAgEAAoIBAQC7VJTU", pem)).toBe("near [sensitive]");
  });

  it("does not search for what is everywhere (S2)", () => {
    expect(scrubbed("a yes is a yes", "yes", "a", 1, true, null)).toBe("a yes is a yes");
  });

  it("knows a long value by its pieces, and costs little (S3)", () => {
    const long = Array.from({ length: 50_000 }, (_, n) => `line ${n * 7919}`).join("; ");
    const texts = textsOf(long);
    expect(texts.isInText(`before ${long} after`)).toBe(true);
    expect(texts.scrubText(`quoted: ${long.slice(0, 200)}`)).toBe("[sensitive]");
    expect(texts.isInText(Buffer.from(`xx${long}`).toString("base64"))).toBe(true);
    expect(texts.isInText(long.slice(100, 150))).toBe(false);
    const many = textsOf(Array.from({ length: 20_000 }, (_, n) => `secret number ${n}`));
    expect(many.isInText("secret number 19999")).toBe(true);
  });

  it("does not leave the beginning of a secret at the end of a text that was cut (S4)", () => {
    expect(textsOf("hunter2-hunter2").scrubText("the password is hunter2-hu…")).toBe(
      "the password is [sensitive]…",
    );
  });
});
