// A world with budgets: a flow of tool calls, each of which uses what it is told to use.

import {
  type Budget,
  Ledger,
  type Principal,
  type RingParts,
  ring,
  ToolEffect,
} from "../../../src/effects/index.js";
import type { ExecutionContext, ExecutionState, RegisteredFlow } from "../../../src/kernel/index.js";
import { codeOf, flow, type Process, type ProcessOptions, type World } from "../../support/world.js";

/** What a call of `use` does. */
export interface Use {
  readonly tokens?: number;
  readonly cost?: number;
  readonly ms?: number;
}

/** So many calls of the tool, one after the other; a refusal that the flow catches is part of its output. */
export const using = (id = "f"): RegisteredFlow =>
  flow(id, async (ctx, uses) => {
    const came: unknown[] = [];
    for (const [i, use] of (uses as Use[]).entries()) came.push(await call(ctx, i, use).catch(codeOf));
    return came;
  });

/** The same at once. */
export const usingAtOnce = (id = "wide"): RegisteredFlow =>
  flow(id, (ctx, uses) => Promise.all((uses as Use[]).map((use, i) => call(ctx, i, use).catch(codeOf))));

function call(ctx: ExecutionContext, i: number, use: Use): Promise<unknown> {
  return ctx.execute({ id: `use#${i}`, toolId: "use" }, use);
}

export interface Budgeted {
  readonly process: Process;
  readonly ledger: Ledger;
  /** Starts one without waiting for its end. */
  start(flow: RegisteredFlow, uses: readonly Use[], id: string, principal?: Principal): Promise<void>;
  /** And waits for its end. */
  run(flow: RegisteredFlow, uses: readonly Use[], id: string, principal?: Principal): Promise<ExecutionState>;
}

/** A process under budgets on the log of the world; the one before it is killed. */
export async function budgeted(
  world: World,
  flows: readonly RegisteredFlow[],
  budgets: readonly Budget[],
  {
    middleware = [],
    authorizer,
    ...options
  }: Omit<ProcessOptions, "middleware"> & Pick<RingParts, "authorizer" | "middleware"> = {},
): Promise<Budgeted> {
  await world.process?.kill();
  const now = (): number => world.clock.now;
  const ledger = new Ledger(budgets, now);
  const layers = ring({ authorizer, budgeting: { ledger, now }, middleware });
  const process = world.prepare(flows, { ...options, middleware: layers, ledger });
  const effect = new ToolEffect(async ({ tokens, cost, ms }: Use, { executionId, stepId, meter }) => {
    world.count(`${executionId}/${stepId}`);
    world.count("calls");
    if (tokens !== undefined || cost !== undefined) meter({ tokens, cost });
    if (ms !== undefined) await world.delay(ms);
    return "used";
  });
  process.effects.register("use", effect);
  await world.until(process.runtime.open());
  const start: Budgeted["start"] = async (f, uses, executionId, principal) => {
    await world.until(
      process.runtime.start(f, uses, { executionId, ...(principal !== undefined && { principal }) }),
    );
  };
  return {
    process,
    ledger,
    start,
    run: async (f, uses, executionId, principal) => {
      await start(f, uses, executionId, principal);
      return process.finish(executionId);
    },
  };
}
