// Marks in schemas: whatever a schema is made of, what it marks is sealed and comes back as it was, and nothing else changes.

import { inspect } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  fromWire,
  HeddleError,
  hasMarks,
  internal,
  NO_VAULT,
  secrecyOf,
  secretRef,
  sensitive,
  VALUE_LIMITS,
  Vault,
} from "../../src/kernel/index.js";
import { formsOf } from "./forms.js";

const vault = new Vault({ current: "k", keys: { k: new Uint8Array(32).fill(3) } });
const CANARY = "canary-5e1f";

/** What a reader sees of a value, and what its own flow gets. */
function through(schema: z.ZodType, value: unknown): { readonly seen: unknown; readonly got: unknown } {
  const wire = secrecyOf(vault, "x").wireOf(schema.parse(value), schema, VALUE_LIMITS);
  return { seen: fromWire(wire), got: secrecyOf(vault, "x").reveal(wire) };
}

interface Case {
  readonly schema: z.ZodType;
  readonly value: unknown;
}

/** Schemas of any kind around a marked text, and a value of each with the canary there. */
const cases: fc.Arbitrary<Case> = fc.letrec<{ any: Case }>((tie) => {
  const inner = tie("any");
  const around = (make: (one: Case) => Case): fc.Arbitrary<Case> => inner.map(make);
  return {
    any: fc.oneof(
      { depthSize: "medium", withCrossShrink: true },
      fc.constantFrom<Case[]>(
        { schema: sensitive(z.string()), value: CANARY },
        { schema: internal(z.string()).min(3).describe("after the mark"), value: CANARY },
        { schema: sensitive(z.object({ a: z.string(), n: z.number() })), value: { a: CANARY, n: 1 } },
        { schema: sensitive(z.string()).transform((text) => ({ text })), value: CANARY },
        { schema: z.preprocess((text) => text, sensitive(z.string())), value: CANARY },
        { schema: sensitive(z.unknown()), value: new Map([[CANARY, Buffer.from(CANARY)]]) },
        { schema: sensitive(z.array(z.string())), value: [CANARY] },
      ),
      around(({ schema, value }) => ({
        schema: z.object({ in: schema, n: z.number() }),
        value: { in: value, n: 7 },
      })),
      around(({ schema, value }) => ({
        schema: z.looseObject({ in: schema }),
        value: { in: value, more: true },
      })),
      around(({ schema, value }) => ({ schema: z.object({}).catchall(schema), value: { any: value } })),
      around(({ schema, value }) => ({ schema: z.array(schema), value: [value, value] })),
      around(({ schema, value }) => ({
        schema: z.tuple([z.number(), schema], schema),
        value: [1, value, value],
      })),
      around(({ schema, value }) => ({ schema: z.record(z.string(), schema), value: { k: value } })),
      around(({ schema, value }) => ({ schema: z.map(z.string(), schema), value: new Map([["k", value]]) })),
      around(({ schema, value }) => ({ schema: z.map(schema, z.string()), value: new Map([[value, "v"]]) })),
      around(({ schema, value }) => ({ schema: z.set(schema), value: new Set([value]) })),
      around(({ schema, value }) => ({ schema: schema.optional(), value })),
      around(({ schema, value }) => ({ schema: schema.nullable().readonly(), value })),
      around(({ schema, value }) => ({ schema: schema.default(value), value: undefined })),
      around(({ schema, value }) => ({ schema: z.lazy(() => schema), value })),
      around(({ schema, value }) => ({ schema: z.union([z.number(), schema]), value })),
      around(({ schema, value }) => ({
        schema: z.discriminatedUnion("kind", [
          z.object({ kind: z.literal("a"), in: schema }),
          z.object({ kind: z.literal("b"), n: z.number() }),
        ]),
        value: { kind: "a", in: value },
      })),
      around(({ schema, value }) => ({
        schema: z.intersection(z.object({ a: schema }), z.object({ b: z.string() })),
        value: { a: value, b: "plain" },
      })),
      around(({ schema, value }) => ({
        schema: z.object({ in: schema }).transform(({ in: one }) => [one]),
        value: { in: value },
      })),
      around(({ schema, value }) => ({
        schema: z.object({ in: schema }).extend({ n: z.number() }),
        value: { in: value, n: 1 },
      })),
      around(({ schema, value }) => ({ schema: z.object({ in: schema }).partial(), value: { in: value } })),
    ),
  };
}).any;

describe("marks", () => {
  it("are found, sealed and opened again in a schema of any kind (property)", () => {
    fc.assert(
      fc.property(cases, ({ schema, value }) => {
        expect(hasMarks(schema)).toBe(true);
        const { seen, got } = through(schema, value);
        const shown = inspect(seen, { depth: 99 });
        for (const form of formsOf(CANARY)) expect(shown).not.toContain(form);
        expect(got).toEqual(schema.parse(value));
      }),
      { numRuns: 500 },
    );
  });

  it("cover what they mark and nothing beside it", () => {
    const schema = z.object({
      id: z.string(),
      card: z.object({ owner: z.string(), pin: sensitive(z.string()).optional() }),
      notes: z.array(internal(z.string())),
    });
    const { seen } = through(schema, { id: "o-17", card: { owner: "ann", pin: "1234" }, notes: ["a", "b"] });
    expect(seen).toEqual({
      id: "o-17",
      card: { owner: "ann", pin: "[sensitive]" },
      notes: ["[internal]", "[internal]"],
    });
    expect(through(schema, { id: "o", card: { owner: "ann" }, notes: [] }).seen).toEqual({
      id: "o",
      card: { owner: "ann" },
      notes: [],
    });
  });

  it("go along a schema that contains itself", () => {
    interface Tree {
      secret: string;
      children: Tree[];
    }
    const tree: z.ZodType<Tree> = z.object({
      secret: sensitive(z.string()),
      get children() {
        return z.array(tree);
      },
    });
    const value = { secret: CANARY, children: [{ secret: CANARY, children: [] }] };
    const { seen, got } = through(tree, value);
    expect(seen).toEqual({ secret: "[sensitive]", children: [{ secret: "[sensitive]", children: [] }] });
    expect(got).toEqual(value);
    expect(hasMarks(z.json())).toBe(false);
  });

  it("in a schema that makes itself anew at each level cannot be found, and it is refused instead of searched for ever", () => {
    const node = (): z.ZodType => z.lazy(() => z.object({ next: node().optional() }));
    expect(() => hasMarks(node())).toThrow(
      expect.objectContaining({
        code: "CONFIG_INVALID",
        message: expect.stringContaining("Make it once") as unknown,
      }),
    );
  });

  it("cover a whole value that is not of the schema's shape, as where inputs are not validated", () => {
    const schema = z.object({ pin: sensitive(z.string()) });
    const wire = secrecyOf(vault, "x").wireOf([CANARY], schema, VALUE_LIMITS);
    expect(fromWire(wire)).toBe("[sensitive]");
  });

  it("leave absent values and references as they are, also without a key", () => {
    const schema = z.object({ key: sensitive(z.unknown()), gone: sensitive(z.string()).nullish() });
    const value = { key: secretRef("stripe"), gone: null };
    const wire = secrecyOf(NO_VAULT, "x").wireOf(value, schema, VALUE_LIMITS);
    expect(fromWire(wire)).toEqual(value);
  });

  it("change nothing in the value they were given", () => {
    const schema = z.looseObject({ pin: sensitive(z.string()) });
    const value = Object.freeze({ pin: CANARY, list: [1] });
    secrecyOf(vault, "x").wireOf(value, schema, VALUE_LIMITS);
    expect(value).toEqual({ pin: CANARY, list: [1] });
  });

  it("cost nothing where there are none: a schema is looked through once, and nothing is made for a run", () => {
    let looks = 0;
    const schema = z.object({
      inner: z.lazy(() => {
        looks += 1;
        return z.string();
      }),
    });
    for (let n = 0; n < 100; n++) expect(hasMarks(schema)).toBe(false);
    expect(looks).toBe(1);
    expect(secrecyOf(NO_VAULT, "a")).toBe(secrecyOf(NO_VAULT, "b"));
    expect(NO_VAULT.opener("a")).toBe(NO_VAULT.opener("b"));
  });

  it("of something that is no zod schema are refused, with what to do", () => {
    for (const mark of [sensitive, internal])
      expect(() => mark("text" as never)).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
    expect(() => secretRef("")).toThrow(HeddleError);
  });
});
