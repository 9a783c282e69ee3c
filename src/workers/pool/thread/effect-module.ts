// The effects module: a user's module, loaded once a thread, whose export `effects` holds effects by id.

import type { Effect } from "../../../effects/index.js";
import { HeddleError } from "../../../kernel/errors.js";
import { checkId } from "../../../kernel/ids.js";
import type { EffectDescription } from "../report.js";

export type EffectTable = ReadonlyMap<string, Effect>;

export async function loadEffects(url: string): Promise<EffectTable> {
  const { effects } = await load(url);
  if (typeof effects !== "object" || effects === null || Array.isArray(effects)) {
    throw refused(url, "does not export `effects`: export const effects = { id: new ToolEffect(...) }");
  }
  return new Map(Object.entries(effects).map(([id, effect]) => [id, checked(url, id, effect)]));
}

export function describeEffects(effects: EffectTable): EffectDescription[] {
  return [...effects].map(([id, { kind, errors = {}, placement = "pool", mode, idempotent }]) => {
    return { id, kind, placement, mode, idempotent, channels: Object.keys(errors) };
  });
}

async function load(url: string): Promise<{ readonly effects?: unknown }> {
  try {
    return (await import(url)) as { readonly effects?: unknown };
  } catch (error) {
    throw refused(url, `cannot be loaded: ${error instanceof Error ? error.message : String(error)}`, error);
  }
}

function checked(url: string, id: string, effect: unknown): Effect {
  try {
    checkId("its id", id);
  } catch (error) {
    throw refused(url, `exports an effect that has no usable id: ${(error as Error).message}`, error);
  }
  if (typeof (effect as Effect | null | undefined)?.execute === "function") return effect as Effect;
  throw refused(
    url,
    `exports effects.${id}, which is no effect: wrap it, as in new ToolEffect(async (input, ctx) => ...)`,
  );
}

function refused(url: string, complaint: string, cause?: unknown): HeddleError {
  return new HeddleError(
    "CONFIG_INVALID",
    `workers.effects.module ${url} ${complaint}.`.replace(/\.\.$/, "."),
    {
      details: { option: "workers.effects.module", module: url },
      ...(cause !== undefined && { cause }),
    },
  );
}
