// selectedSkillsOf: which skills ran, read from the events of an execution. Pure, and without trust in what the events hold: they
// may come from an export, and their decisions from anybody.

import type { EventEnvelope } from "../../kernel/index.js";
import { ACTIVATION_SOURCE } from "./activate-skill.js";
import { SELECTION_SOURCE } from "./select-skills.js";

/** Skills by their ids, in the order in which they came, each once. */
export interface LoopSkills {
  /** Those that were named before the first turn; also ids there was no skill of. */
  readonly upfront: readonly string[];
  /** Those the model took up. */
  readonly activated: readonly string[];
}

export interface SelectedSkills extends LoopSkills {
  readonly byLoop: Readonly<Record<string, LoopSkills>>;
}

interface Decision {
  readonly decisionId: string;
  readonly choice: unknown;
  readonly source: string | undefined;
}

const SELECTION = /^(.*)#skills$/s;
const ACTIVATION = /^(.*)#turn:\d+:tool:\d+:skill$/s;

/** @param options.loopId reads one loop alone */
export function selectedSkillsOf(
  events: Iterable<EventEnvelope>,
  { loopId }: { readonly loopId?: string } = {},
): SelectedSkills {
  const loops = new Map<string, { upfront: Set<string>; activated: Set<string> }>();
  const upfront = new Set<string>();
  const activated = new Set<string>();
  for (const event of events) {
    const decision = decisionOf(event);
    const selection = decision && selectionOf(decision);
    const found = selection ?? (decision && activationOf(decision));
    if (!found || (loopId !== undefined && found.loopId !== loopId)) continue;
    const loop = loops.get(found.loopId) ?? { upfront: new Set(), activated: new Set() };
    loops.set(found.loopId, loop);
    const [own, all] = selection ? [loop.upfront, upfront] : [loop.activated, activated];
    for (const id of found.ids) {
      own.add(id);
      all.add(id);
    }
  }
  return {
    upfront: [...upfront],
    activated: [...activated],
    byLoop: Object.fromEntries(
      Array.from(loops, ([id, loop]) => [id, { upfront: [...loop.upfront], activated: [...loop.activated] }]),
    ),
  };
}

function decisionOf({ type, payload }: EventEnvelope): Decision | undefined {
  if (type !== "DECISION_RECORDED") return undefined;
  const { decisionId, choice, source } = (payload ?? {}) as Partial<Decision>;
  return typeof decisionId === "string" ? { decisionId, choice, source } : undefined;
}

interface Found {
  readonly loopId: string;
  readonly ids: readonly string[];
}

/** One without a source is taken for the loop's; one with another is the app's own. */
function selectionOf({ decisionId, choice, source = SELECTION_SOURCE }: Decision): Found | undefined {
  const loopId = SELECTION.exec(decisionId)?.[1];
  if (loopId === undefined || source !== SELECTION_SOURCE || !Array.isArray(choice)) return undefined;
  return { loopId, ids: choice.filter((id): id is string => typeof id === "string") };
}

function activationOf({ decisionId, choice, source }: Decision): Found | undefined {
  const loopId = ACTIVATION.exec(decisionId)?.[1];
  if (loopId === undefined || source !== ACTIVATION_SOURCE) return undefined;
  const { skill, verdict } = (choice ?? {}) as { readonly skill?: unknown; readonly verdict?: unknown };
  return verdict === "activated" && typeof skill === "string" ? { loopId, ids: [skill] } : undefined;
}
