// Programs: random flows as data, the flow each stands for, and the smaller ones it could be replaced by.
//
// Ids come from the place of a node, so they are a pure function of the program. Where a program is `steady`, its result does not
// depend on what was quicker, and has to be the same whatever goes wrong.

import { z } from "zod";
import { agentLoop$ } from "../../src/agent/index.js";
import { type EffectRuntime, LlmEffect, ToolEffect } from "../../src/effects/index.js";
import {
  agent$,
  type ExecutionContext,
  hasCode,
  type RegisteredFlow,
  type StepHandlerContext,
  step$,
  TypedFailure,
  tool$,
} from "../../src/kernel/index.js";
import type { LlmRequest, LlmResponse } from "../../src/llm/index.js";
import type { SimRandom } from "../../src/testing/sim/random.js";
import { checkConversation } from "../support/agents.js";
import { flow } from "../support/world.js";

export type Node =
  | {
      readonly kind: "step";
      readonly delayMs: number;
      readonly ends: "well" | "untyped" | "typed";
      readonly failures: number;
      readonly timeoutMs?: number;
      readonly deadlineMs?: number;
      readonly idempotent: boolean;
      readonly emits: boolean;
    }
  | { readonly kind: "sleep"; readonly ms: number }
  | { readonly kind: "gate"; readonly timeoutMs?: number; readonly isAnswered: boolean }
  | { readonly kind: "decide"; readonly delayMs: number }
  | { readonly kind: "note"; readonly how: "emit" | "stream" | "set" | "now" | "random" | "uuid" }
  | { readonly kind: "agent"; readonly turns: readonly (readonly string[])[] }
  | { readonly kind: "sequence"; readonly nodes: readonly Node[] }
  | { readonly kind: "parallel"; readonly nodes: readonly Node[]; readonly limit: number }
  | { readonly kind: "race"; readonly nodes: readonly Node[] }
  | { readonly kind: "shield"; readonly nodes: readonly Node[] }
  | { readonly kind: "cleanup"; readonly nodes: readonly Node[] };

export interface Program {
  readonly root: Node;
  readonly deadlineMs?: number;
  readonly cancelAtMs?: number;
  readonly forceAtMs?: number;
}

/** Times an effect or a client waits, in the simulation's time. */
export interface Stage {
  delay(milliseconds: number): Promise<void>;
}

// ── Making one ──────────────────────────────────────────────────────────────────────────────────────────────────

export function randomProgram(random: SimRandom): Program {
  const nodes = Array.from({ length: random.between(1, 4) }, () => randomNode(random, 3));
  const isCalledOff = random.chance(0.25);
  return {
    root: { kind: "sequence", nodes },
    ...(random.chance(0.1) && { deadlineMs: random.pick([1, 40, 900, 50_000]) }),
    ...(isCalledOff && { cancelAtMs: random.pick([0, 3, 50, 800, 5_000]) }),
    ...(isCalledOff && random.chance(0.3) && { forceAtMs: random.pick([60, 900, 9_000]) }),
  };
}

function randomNode(random: SimRandom, depth: number): Node {
  if (depth > 0 && random.chance(0.3)) {
    const nodes = Array.from({ length: random.between(1, 3) }, () => randomNode(random, depth - 1));
    const kind = random.pick(["sequence", "parallel", "parallel", "race", "shield", "cleanup"] as const);
    return kind === "parallel" ? { kind, nodes, limit: random.between(1, 4) } : { kind, nodes };
  }
  const kind = random.pick([
    "step",
    "step",
    "step",
    "step",
    "sleep",
    "gate",
    "decide",
    "note",
    "agent",
  ] as const);
  switch (kind) {
    case "step":
      return {
        kind,
        delayMs: random.pick([0, 0, 1, 5, 30, 400]),
        ends: random.pick(["well", "well", "well", "untyped", "typed"]),
        failures: random.pick([0, 0, 0, 1, 2]),
        idempotent: !random.chance(0.2),
        emits: random.chance(0.1),
        ...(random.chance(0.1) && { timeoutMs: random.pick([4, 100]) }),
        ...(random.chance(0.1) && { deadlineMs: random.pick([5, 60, 1_000]) }),
      };
    case "sleep":
      return { kind, ms: random.pick([0, 1, 10, 2_000, 3_600_000]) };
    case "gate": {
      const isAnswered = random.chance(0.7);
      const isTimed = !isAnswered || random.chance(0.2);
      return { kind, isAnswered, ...(isTimed && { timeoutMs: random.pick([5, 1_000, 100_000]) }) };
    }
    case "decide":
      return { kind, delayMs: random.pick([0, 0, 10]) };
    case "note":
      return { kind, how: random.pick(["emit", "stream", "set", "now", "random", "uuid"]) };
    case "agent":
      return {
        kind,
        turns: Array.from({ length: random.below(3) }, () =>
          Array.from({ length: random.between(1, 2) }, () => random.pick(["look", "look", "break"])),
        ),
      };
  }
}

/** Whether nothing in it depends on time. */
export function isSteady({ root, deadlineMs, cancelAtMs }: Program): boolean {
  if (deadlineMs !== undefined || cancelAtMs !== undefined) return false;
  const steady = (node: Node): boolean => {
    switch (node.kind) {
      case "step":
        return node.timeoutMs === undefined && node.deadlineMs === undefined && node.idempotent;
      case "gate":
        return !(node.isAnswered && node.timeoutMs !== undefined);
      case "race":
        return false;
      default:
        return "nodes" in node ? node.nodes.every(steady) : true;
    }
  };
  return steady(root);
}

/** Programs with one thing less, the biggest cuts first. */
export function smaller(program: Program): readonly Program[] {
  const { root, ...calls } = program;
  const names = Object.keys(calls) as (keyof typeof calls)[];
  return [
    ...smallerNodes(root).map((node) => ({ ...calls, root: node })),
    ...names.map((name): Program => ({ ...program, [name]: undefined })),
  ];
}

function smallerNodes(node: Node): readonly Node[] {
  if (!("nodes" in node)) return [];
  const { nodes } = node;
  return [
    ...nodes.map((_, index) => ({ ...node, nodes: nodes.toSpliced(index, 1) })),
    ...(node.kind === "sequence" ? [] : [{ kind: "sequence" as const, nodes }]),
    ...nodes.flatMap((child, index) =>
      smallerNodes(child).map((less) => ({ ...node, nodes: nodes.with(index, less) })),
    ),
  ];
}

/** What a gate is answered. */
export function answerTo(on: string): { readonly payload: unknown } | undefined {
  return on.startsWith("ask") ? { payload: { answered: on } } : undefined;
}

// ── Running one ─────────────────────────────────────────────────────────────────────────────────────────────────

export function flowOf(id: string, program: Program, stage: Stage): RegisteredFlow {
  return flow(id, (ctx) => new Interpreter(ctx, stage).run(program.root, ""));
}

class Interpreter {
  readonly #ctx: ExecutionContext;
  readonly #stage: Stage;

  constructor(ctx: ExecutionContext, stage: Stage) {
    this.#ctx = ctx;
    this.#stage = stage;
  }

  async run(node: Node, path: string): Promise<unknown> {
    const ctx = this.#ctx;
    switch (node.kind) {
      case "step":
        return valueOf(ctx.run(this.#step(node, path), { path }));
      case "sleep":
        return ctx.sleep(node.ms);
      case "gate": {
        const on = `${node.isAnswered ? "ask" : "wait"}${path}`;
        const { timeoutMs: timeout } = node;
        return valueOf(ctx.suspend({ on, ...(timeout !== undefined && { timeout }) }));
      }
      case "decide":
        return ctx.decide(`decide${path}`, async () => {
          await this.#stage.delay(node.delayMs);
          return path;
        });
      case "note":
        return this.#note(node.how, path);
      case "agent":
        return valueOf(this.#agent(node, path));
      case "sequence":
        return this.#inTurn(node.nodes, path);
      case "parallel":
        return ctx.parallel(
          node.nodes.map((child, index) => () => this.run(child, `${path}.${index}`)),
          { limit: node.limit },
        );
      case "race":
        await Promise.race(node.nodes.map((child, index) => this.run(child, `${path}.${index}`)));
        return "raced";
      case "shield":
        return ctx.shield((shielded) => new Interpreter(shielded, this.#stage).#inTurn(node.nodes, path));
      case "cleanup":
        try {
          return await this.#inTurn(node.nodes.slice(1), path);
        } catch (error) {
          await ctx.shield((shielded) =>
            new Interpreter(shielded, this.#stage).run(node.nodes[0]!, `${path}.c`),
          );
          throw error;
        }
    }
  }

  async #inTurn(nodes: readonly Node[], path: string): Promise<unknown[]> {
    const values: unknown[] = [];
    for (const [index, child] of nodes.entries()) values.push(await this.run(child, `${path}.${index}`));
    return values;
  }

  #note(how: Extract<Node, { kind: "note" }>["how"], path: string): unknown {
    const ctx = this.#ctx;
    switch (how) {
      case "emit":
        return ctx.emit(`noted${path}`, { path });
      case "stream":
        return ctx.stream(`stream${path}`, path, true);
      case "set":
        return ctx.ui.set(`key${path}`, { path });
      default:
        // Shown to the log, so that a replay that draws another value diverges; not to the result.
        return ctx.emit(`drawn${path}`, { value: ctx[how]() });
    }
  }

  #step(node: Extract<Node, { kind: "step" }>, path: string) {
    const { delayMs, ends, failures, timeoutMs, deadlineMs, idempotent, emits } = node;
    return step$({
      id: `step${path}`,
      inputSchema: z.unknown(),
      outputSchema: z.unknown(),
      errors: { declared: z.object({ path: z.string() }) },
      retry: { maxAttempts: failures + 1, baseDelayMs: 10 },
      idempotent,
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(deadlineMs !== undefined && { deadlineMs }),
      handler: async (_input: unknown, { attempt, emit }: StepHandlerContext) => {
        if (delayMs > 0) await this.#stage.delay(delayMs);
        if (emits) emit(`from${path}`, { attempt });
        if (attempt <= failures) throw new Error(`attempt ${attempt} of ${path}`);
        if (ends === "typed") throw new TypedFailure("declared", { path });
        if (ends === "untyped") throw new RangeError(path);
        return { path };
      },
    });
  }

  async #agent({ turns }: Extract<Node, { kind: "agent" }>, path: string): Promise<unknown> {
    const definition = agent$({ id: `agent${path}`, tools: ["look", "break"].map(toolNamed) });
    const prompt = JSON.stringify(turns);
    const { content } = await agentLoop$(this.#ctx, { definition, modelToolId: "model" }, { prompt });
    return content;
  }
}

const toolNamed = (id: string) =>
  tool$({ id, description: `Does ${id}`, inputSchema: z.looseObject({}), outputSchema: z.unknown() });

/** What agents call: a model that calls the tools its prompt lists, turn by turn, and tools that do and do not do it. */
export function registerEffects(runtime: EffectRuntime): void {
  runtime.register("model", MODEL);
  runtime.register("look", LOOK);
  runtime.register("break", BREAK);
}

const MODEL = new LlmEffect(answerOf);
const LOOK = new ToolEffect(() => ({ seen: true }));
const BREAK = new ToolEffect(() => Promise.reject(new Error("it broke")));

function answerOf({ messages }: LlmRequest): LlmResponse {
  checkConversation(messages);
  const [first] = messages;
  const turns = JSON.parse(textOf(first?.content)) as readonly (readonly string[])[];
  const turn = messages.filter(({ role }) => role === "assistant").length;
  const calls = turns[turn];
  if (!calls) return { content: `done after ${turn}`, stopReason: "end" };
  const toolCalls = calls.map((name, index) => ({ id: `call-${turn}-${index}`, name, input: {} }));
  return { content: "", toolCalls, stopReason: "toolUse" };
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return (content as readonly { readonly text?: string }[]).map(({ text = "" }) => text).join("");
}

/** A cancellation goes on outwards; any other failure is a value. */
async function valueOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    return await promise;
  } catch (error) {
    if (hasCode(error, "CANCELLED")) throw error;
    const { name, message } = error as Error;
    return { name, message };
  }
}
