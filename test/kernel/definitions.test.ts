import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import {
  defineFlow,
  describeIssues,
  flow$,
  type HeddleError,
  type HeddleErrorCode,
  handler$,
  issuesOf,
  parseSync,
  parseWith,
  policy$,
  type StepOptions,
  step$,
  type ToolOptions,
  tool$,
} from "../../src/kernel/index.js";

const any = z.unknown();
const long = "x".repeat(1025);

function codeOf(call: () => unknown): HeddleErrorCode | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    return (error as HeddleError).code;
  }
}

describe("step$", () => {
  const step = (options: Partial<StepOptions<unknown, unknown>>) =>
    step$({ id: "s", inputSchema: any, outputSchema: any, ...options });

  test("is what it was given, frozen, named by its id", () => {
    const handler = handler$(() => 1);
    expect(step({ handler })).toEqual({ id: "s", name: "s", inputSchema: any, outputSchema: any, handler });
    expect(step({ name: "A step" }).name).toBe("A step");
    expect(Object.isFrozen(step({}))).toBe(true);
  });

  test("infers the types of its handler from the schemas", () => {
    const typed = step$({
      id: "s",
      inputSchema: z.object({ n: z.number() }),
      outputSchema: z.string(),
      handler: handler$(async ({ n }: { n: number }) => String(n)),
    });
    expectTypeOf(typed.inputSchema).toExtend<z.ZodType<{ n: number }>>();
    expectTypeOf(typed.outputSchema).toExtend<z.ZodType<string>>();
  });

  test.each([
    ["an id over the limit", { id: long }, "ID_INVALID"],
    ["no id", { id: "" }, "ID_INVALID"],
    ["no input schema", { inputSchema: undefined as never }, "CONFIG_INVALID"],
    ["an output schema that is none", { outputSchema: {} as never }, "CONFIG_INVALID"],
    ["less than one attempt", { retry: { maxAttempts: 0 } }, "CONFIG_INVALID"],
    ["attempts that are no number", { retry: { maxAttempts: Number.NaN } }, "CONFIG_INVALID"],
    ["attempts without end", { retry: { maxAttempts: Infinity } }, "CONFIG_INVALID"],
    ["a negative delay", { retry: { baseDelayMs: -1 } }, "CONFIG_INVALID"],
    ["a shrinking delay", { retry: { factor: 0.5 } }, "CONFIG_INVALID"],
    ["a negative longest delay", { retry: { maxDelayMs: -1 } }, "CONFIG_INVALID"],
    ["no time", { timeoutMs: 0 }, "CONFIG_INVALID"],
    ["a time that is no number", { timeoutMs: Number.NaN }, "CONFIG_INVALID"],
    ["time without end", { timeoutMs: Infinity }, "CONFIG_INVALID"],
    ["a word a retry does not know", { retry: { maxRetries: 3 } as never }, "CONFIG_INVALID"],
    ["a jitter that is neither", { retry: { jitter: "full" as never } }, "CONFIG_INVALID"],
    ["a retry that is no policy", { retry: 3 as never }, "CONFIG_INVALID"],
    ["an answer to idempotent that is neither", { idempotent: "no" as never }, "CONFIG_INVALID"],
    ["a mode there is not", { mode: "Ambient" as never }, "CONFIG_INVALID"],
    ["a channel without a schema", { errors: { empty: "text" as never } }, "CONFIG_INVALID"],
    ["channels that are no table", { errors: 3 as never }, "CONFIG_INVALID"],
    ["a handler that is no function", { handler: {} as never }, "CONFIG_INVALID"],
  ] as const)("refuses %s", (_, options, code) => {
    expect(codeOf(() => step(options))).toBe(code);
  });

  test("takes every sensible policy", () => {
    expect(codeOf(() => step({ retry: {}, timeoutMs: 0.5 }))).toBeUndefined();
    expect(
      codeOf(() => step({ retry: { maxAttempts: 1, baseDelayMs: 0, factor: 1, maxDelayMs: 0 } })),
    ).toBeUndefined();
  });
});

describe("tool$", () => {
  const tool = (options: Partial<ToolOptions<unknown, unknown>>) =>
    tool$({ id: "t", name: "T", description: "d", inputSchema: any, outputSchema: any, ...options });

  test("is metadata, of kind tool and found under its id unless told otherwise", () => {
    expect(tool({})).toMatchObject({ id: "t", kind: "tool", toolId: "t" });
    expect(tool({ kind: "a2a", toolId: "other" })).toMatchObject({ kind: "a2a", toolId: "other" });
  });

  test.each([
    ["an id over the limit", { id: long }, "ID_INVALID"],
    ["no schema", { inputSchema: 7 as never }, "CONFIG_INVALID"],
    ["no output schema", { outputSchema: null as never }, "CONFIG_INVALID"],
    ["a policy without sense", { retry: { maxAttempts: Number.NaN } }, "CONFIG_INVALID"],
    ["no time", { timeoutMs: -1 }, "CONFIG_INVALID"],
    ["an answer to idempotent that is neither", { idempotent: "no" as never }, "CONFIG_INVALID"],
  ] as const)("refuses %s", (_, options, code) => {
    expect(codeOf(() => tool(options))).toBe(code);
  });
});

describe("flow$ and defineFlow", () => {
  const step = step$({ id: "s", inputSchema: any, outputSchema: any });
  const flow = (options: Partial<Parameters<typeof flow$>[0]>) =>
    flow$({ id: "f", version: "1", inputSchema: any, outputSchema: any, ...options });

  test("a definition is frozen, named by its id, without steps unless listed", () => {
    expect(flow({})).toMatchObject({ id: "f", name: "f", version: "1", steps: [] });
    expect(Object.isFrozen(flow({}))).toBe(true);
    expect(flow({ name: "F" }).name).toBe("F");
  });

  test("C-REP-02: two different steps of one name are refused; the same one may be listed twice", () => {
    const other = step$({ id: "s", inputSchema: any, outputSchema: any });
    expect(codeOf(() => flow({ steps: [step, other] }))).toBe("DEFINITION_CONFLICT");
    expect(codeOf(() => flow({ steps: [step, step] }))).toBeUndefined();
  });

  test.each([
    ["an id over the limit", { id: long }, "ID_INVALID"],
    ["no version", { version: "" }, "ID_INVALID"],
    ["no input schema", { inputSchema: undefined as never }, "CONFIG_INVALID"],
    ["no output schema", { outputSchema: undefined as never }, "CONFIG_INVALID"],
    ["a step over the limit", { steps: [{ id: long }] }, "ID_INVALID"],
    ["steps that are no list", { steps: step as never }, "CONFIG_INVALID"],
    ["a gate without a schema", { resumeSchemas: { Approved: "yes" as never } }, "CONFIG_INVALID"],
    ["policies that are no list", { policies: policy$({ id: "p", deny: ["*"] }) as never }, "CONFIG_INVALID"],
    ["a policy that is none", { policies: [{ id: "p", deny: "*" as never }] }, "CONFIG_INVALID"],
  ] as const)("refuses %s", (_, options, code) => {
    expect(codeOf(() => flow(options))).toBe(code);
  });

  test("types of input and output follow from the schemas", () => {
    const definition = flow$({
      id: "f",
      version: "1",
      inputSchema: z.object({ n: z.number() }),
      outputSchema: z.string(),
    });
    const registered = defineFlow(definition, async (_ctx, { n }) => String(n));
    expect(Object.isFrozen(registered)).toBe(true);
    expectTypeOf(registered.runner).returns.resolves.toEqualTypeOf<string>();
  });
});

describe("policy$", () => {
  test.each([
    ["no id", {}, "ID_INVALID"],
    ["nothing", undefined, "CONFIG_INVALID"],
    ["grants that are no list", { id: "p", allow: "bank.*" }, "CONFIG_INVALID"],
    ["a grant without a name", { id: "p", deny: ["bank.*", ""] }, "CONFIG_INVALID"],
    [
      "a word it does not know, which would allow everything",
      { id: "p", alow: ["bank.*"] },
      "CONFIG_INVALID",
    ],
  ])("refuses %s", (_, policy, code) => {
    expect(codeOf(() => policy$(policy as never))).toBe(code);
  });
});

describe("schemas at a boundary", () => {
  const order = z.object({ sku: z.string(), lines: z.array(z.object({ n: z.number().min(1) })) });

  test("a refusal names every issue and where it is", () => {
    const parse = () =>
      parseWith(order, { sku: 1, lines: [{ n: 1 }, { n: 0 }] }, "INPUT_INVALID", "input of step", "s");
    expect(codeOf(parse)).toBe("INPUT_INVALID");
    expect(parse).toThrow(/The input of step s does not satisfy its schema: sku: .*; lines\.1\.n: /);
    try {
      parse();
    } catch (error) {
      expect((error as HeddleError).details["issues"]).toMatchObject([
        { path: "sku" },
        { path: "lines.1.n" },
      ]);
    }
  });

  test("gives the parsed value; without a schema the value itself", () => {
    expect(parseWith(z.coerce.number(), "7", "OUTPUT_INVALID", "result of step", "s")).toBe(7);
    expect(parseWith(undefined, "7", "OUTPUT_INVALID", "result of step", "s")).toBe("7");
  });

  test("a schema that can only be parsed asynchronously is refused with the way out", () => {
    const schema = z.string().refine(async () => true);
    expect(codeOf(() => parseSync(schema, "a", "payload of gate", "g"))).toBe("CONFIG_INVALID");
    expect(() => parseSync(schema, "a", "payload of gate", "g")).toThrow(
      /asynchronous refinements .* check inside a step/,
    );
  });

  test("an issue at the root has no path", () => {
    const parsed = z.number().safeParse("a");
    expect(describeIssues(issuesOf(parsed.error!))).not.toContain(": :");
    expect(issuesOf(parsed.error!)[0]?.path).toBe("");
  });
});
