// The effects module: a user's module, loaded once a thread, whose export `effects` holds effects by id.

import type { Effect } from "../../../effects/index.js";
import { checkId } from "../../../kernel/ids.js";
import { checkTerms } from "../../../kernel/terms.js";
import { UserModule } from "../../user-module.js";
import type { EffectDescription } from "../report.js";

export type EffectTable = ReadonlyMap<string, Effect>;

export function effectModule(url: string): UserModule {
  return new UserModule("workers.effects.module", url);
}

export async function loadEffects(url: string): Promise<EffectTable> {
  const module = effectModule(url);
  const { effects } = await module.load();
  if (typeof effects !== "object" || effects === null || Array.isArray(effects)) {
    throw module.refused("does not export `effects`: export const effects = { id: new ToolEffect(...) }");
  }
  return new Map(Object.entries(effects).map(([id, effect]) => [id, checked(module, id, effect)]));
}

export function describeEffects(effects: EffectTable): EffectDescription[] {
  return [...effects].map(([id, { kind, errors = {}, placement = "pool", mode, idempotent }]) => {
    return { id, kind, placement, mode, idempotent, channels: Object.keys(errors) };
  });
}

function checked(module: UserModule, id: string, effect: unknown): Effect {
  try {
    checkId("its id", id);
  } catch (error) {
    throw module.refused(`exports an effect that has no usable id: ${(error as Error).message}`, error);
  }
  if (typeof (effect as Effect | null | undefined)?.execute !== "function")
    throw module.refused(
      `exports effects.${id}, which is no effect: wrap it, as in new ToolEffect(async (input, ctx) => ...)`,
    );
  try {
    checkTerms(`effects.${id}`, effect as Effect);
  } catch (error) {
    throw module.refused(`exports what cannot be. ${(error as Error).message}`, error);
  }
  return effect as Effect;
}
