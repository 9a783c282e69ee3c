// Programs: small random flows as data, and the interpreter that makes a flow of one.
//
// Ids come from the place of a node in its program, so they are a pure function of it. A node's value never depends on
// which of two things was quicker, except below a `race`, whose nodes are marked as such.

import * as fc from "fast-check";
import { z } from "zod";
import { type ExecutionContext, type RegisteredFlow, TypedFailure } from "../../src/kernel/index.js";
import { type Answers, flow, type World } from "../support/world.js";

export type Node =
  | {
      readonly kind: "step";
      readonly delay: number;
      readonly ends: "well" | "untyped" | "typed";
      readonly failures: number;
    }
  | { readonly kind: "sleep"; readonly ms: number }
  | { readonly kind: "gate"; readonly answer: "given" | "none"; readonly timeout: number | undefined }
  | { readonly kind: "decide"; readonly delay: number; readonly ends: "well" | "untyped" }
  | { readonly kind: "note"; readonly how: "emit" | "stream" | "set" | "now" | "random" | "uuid" }
  | { readonly kind: "sequence"; readonly nodes: readonly Node[] }
  | { readonly kind: "parallel"; readonly nodes: readonly Node[]; readonly limit: number }
  | { readonly kind: "race"; readonly nodes: readonly Node[] }
  | { readonly kind: "later"; readonly first: Node; readonly then: Node };

const { node } = fc.letrec<{ node: Node; leaf: Node; branch: Node }>((tie) => ({
  node: fc.oneof({ maxDepth: 3, depthSize: "small" }, tie("leaf"), tie("branch")),
  leaf: fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant("step" as const),
        delay: fc.constantFrom(0, 0, 1, 5, 30),
        ends: fc.constantFrom("well", "well", "untyped", "typed"),
        failures: fc.constantFrom(0, 0, 1, 2),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant("sleep" as const),
        ms: fc.constantFrom(-5, 0, 1, 10, 5_000_000_000),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.oneof(
        fc.constant({ kind: "gate" as const, answer: "given" as const, timeout: undefined }),
        fc.constant({ kind: "gate" as const, answer: "none" as const, timeout: 1_000 }),
      ),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant("decide" as const),
        delay: fc.constantFrom(0, 0, 10),
        ends: fc.constantFrom("well", "untyped"),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant("note" as const),
        how: fc.constantFrom("emit", "stream", "set", "now", "random", "uuid"),
      }),
    },
  ),
  branch: fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant("sequence" as const),
        nodes: fc.array(tie("node"), { maxLength: 4 }),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant("parallel" as const),
        nodes: fc.array(tie("node"), { maxLength: 4 }),
        limit: fc.integer({ min: 1, max: 4 }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant("race" as const),
        nodes: fc.array(tie("node"), { minLength: 1, maxLength: 3 }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant("later" as const), first: tie("node"), then: tie("node") }),
    },
  ),
}));

export const program: fc.Arbitrary<Node> = fc
  .array(node, { minLength: 1, maxLength: 5 })
  .map((nodes) => ({ kind: "sequence", nodes }));

/** What the name of everything below a race begins with. */
export const RACER = "r:";

export function flowOf(program: Node, world: World): RegisteredFlow {
  return flow("program", (ctx) => run(ctx, world, program, ""));
}

export function hasRace(node: Node): boolean {
  switch (node.kind) {
    case "race":
      return true;
    case "sequence":
    case "parallel":
      return node.nodes.some(hasRace);
    case "later":
      return hasRace(node.first) || hasRace(node.then);
    default:
      return false;
  }
}

/** Every gate that somebody answers, with its answer. */
export function answersOf(node: Node, path = ""): Answers {
  switch (node.kind) {
    case "gate":
      return node.answer === "given" ? { [gateName(path)]: { answered: path } } : {};
    case "sequence":
    case "parallel":
    case "race":
      return Object.assign(
        {},
        ...node.nodes.map((child, index) => answersOf(child, childPath(node, path, index))),
      ) as Answers;
    case "later":
      return { ...answersOf(node.first, `${path}.0`), ...answersOf(node.then, `${path}.1`) };
    default:
      return {};
  }
}

const gateName = (path: string): string => `gate${path}`;

function childPath(node: Node, path: string, index: number): string {
  const racer = node.kind === "race" && !path.startsWith(RACER) ? RACER : "";
  return `${racer}${path}.${index}`;
}

async function run(ctx: ExecutionContext, world: World, node: Node, path: string): Promise<unknown> {
  switch (node.kind) {
    case "step":
      return caught(ctx.run(stepOf(world, node, path), { path }));
    case "sleep":
      return ctx.sleep(node.ms);
    case "gate":
      return caught(
        ctx.suspend({ on: gateName(path), ...(node.timeout !== undefined && { timeout: node.timeout }) }),
      );
    case "decide":
      return caught(ctx.decide(`decision${path}`, () => decider(world, node, path)));
    case "note":
      return take(ctx, node.how, path);
    case "sequence": {
      const values: unknown[] = [];
      for (const [index, child] of node.nodes.entries())
        values.push(await run(ctx, world, child, childPath(node, path, index)));
      return values;
    }
    case "parallel":
      return ctx.parallel(
        node.nodes.map((child, index) => () => run(ctx, world, child, childPath(node, path, index))),
        { limit: node.limit },
      );
    case "race":
      // Which one wins may change with a crash; that one does, and the same one on every replay, may not.
      await Promise.race(
        node.nodes.map((child, index) => run(ctx, world, child, childPath(node, path, index))),
      );
      return "raced";
    case "later": {
      const first = run(ctx, world, node.first, `${path}.0`);
      first.catch(() => {}); // a promise of the flow's own: a cancel rejects it, and whoever awaits it never gets there
      const then = await run(ctx, world, node.then, `${path}.1`);
      return [then, await first];
    }
  }
}

function stepOf(world: World, { delay, ends, failures }: Extract<Node, { kind: "step" }>, path: string) {
  return world.step<unknown, unknown>(
    `step${path}`,
    async (_input, { attempt }) => {
      if (delay > 0) await world.delay(delay);
      if (attempt <= failures) throw new Error(`attempt ${attempt} of ${path}`);
      if (ends === "typed") throw new TypedFailure("declared", { path });
      if (ends === "untyped") throw Object.assign(new RangeError(path), { code: "E_STEP" });
      return { path, done: true };
    },
    {
      retry: { maxAttempts: failures + 1, baseDelayMs: 10 },
      errors: { declared: z.object({ path: z.string() }) },
    },
  );
}

async function decider(
  world: World,
  { delay, ends }: Extract<Node, { kind: "decide" }>,
  path: string,
): Promise<unknown> {
  if (delay > 0) await world.delay(delay);
  if (ends === "untyped") throw new Error(`undecided ${path}`);
  return { path };
}

function take(ctx: ExecutionContext, how: Extract<Node, { kind: "note" }>["how"], path: string): unknown {
  switch (how) {
    case "emit":
      return ctx.emit(`event${path}`, { path });
    case "stream":
      return ctx.stream(`stream${path}`, path, true);
    case "set":
      return ctx.ui.set(`key${path}`, { path });
    default:
      // Shown to the log, so that a replay that draws another value diverges; not to the result.
      return ctx.emit(`drawn${path}`, { value: ctx[how](), path });
  }
}

async function caught(promise: Promise<unknown>): Promise<unknown> {
  try {
    return await promise;
  } catch (error) {
    const { name, message, code, channel } = error as Error & { code?: unknown; channel?: unknown };
    return { name, message, code, channel };
  }
}
