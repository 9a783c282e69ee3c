// Rounds: how the actors of a pass are moved. In each round an actor is moved by one outcome, all become quiet, each is settled.
//
// Owns       nothing that outlives the pass.
//
// N1  What an actor's turn throws is a broken record or a bug of ours; either way only this execution stops.

import type { Actor } from "./actor.js";
import type { Footprints } from "./caution.js";
import { quiet } from "./quiet.js";

/** Outcomes one actor may be handed in one pass, so that a long replay does not hold up everybody's commit. */
const ROUNDS_MAX = 256;
const NOBODY: readonly never[] = [];

/** Returns those who have more to do than fits into one pass. */
export async function advance(actors: readonly Actor[], now: number): Promise<readonly Actor[]> {
  let wave = actors;
  for (let round = 0; wave.length > 0 && round < ROUNDS_MAX; round++) {
    let moved = false;
    for (const actor of wave) moved = advanceGuarded(actor, now) || moved;
    if (moved) await quiet();
    let again: Actor[] | undefined;
    for (const actor of wave) {
      if (settleGuarded(actor, now)) (again ??= []).push(actor);
    }
    if (!again) return NOBODY;
    wave = again;
  }
  return wave;
}

/** The same, one actor after the other, each leaving its footprint: should the thread end, it tells whose turn it was. */
export async function advanceOneByOne(
  footprints: Footprints,
  actors: readonly Actor[],
  now: number,
): Promise<readonly Actor[]> {
  const unfinished: Actor[] = [];
  for (const actor of actors) {
    footprints.stepOn(actor.id);
    unfinished.push(...(await advance([actor], now)));
  }
  footprints.stepOff();
  return unfinished;
}

// N1
function advanceGuarded(actor: Actor, now: number): boolean {
  try {
    return actor.advance(now);
  } catch (error) {
    actor.setAsideBy(error);
    return false;
  }
}

function settleGuarded(actor: Actor, now: number): boolean {
  try {
    return actor.settle(now);
  } catch (error) {
    actor.setAsideBy(error);
    return actor.hasMail;
  }
}
