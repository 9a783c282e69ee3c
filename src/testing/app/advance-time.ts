// Moving the time of an app: from one due instant to the next, with whatever is due at each of them done before the next one comes, as it
// would be if the time passed by itself.

import type { LoomApp } from "../../app/define-config.js";
import { checkDuration } from "../../kernel/index.js";
import { clockOf } from "./create-test-app.js";

/**
 * Moves the clock of an app on by `milliseconds`. What is due on the way happens on the way, in order: sleeps end, gates and steps time
 * out, attempts are made again. Resolves when the app has nothing left to do at the new time, but for effects that are still running,
 * which it does not wait for.
 *
 * @throws CONFIG_INVALID for an app without a clock of its own, INPUT_INVALID for what is no length of time
 */
export async function advanceTime(app: LoomApp, milliseconds: number): Promise<void> {
  const clock = clockOf(app);
  checkDuration("INPUT_INVALID", "advanceTime: milliseconds", milliseconds);
  const end = clock.now() + milliseconds;
  do await quiet(app);
  while (clock.step(end));
}

/**
 * Lets an app do what is due by now, and moves no time. Resolves when it has nothing left to do, but for effects that are still running.
 *
 * @throws CONFIG_INVALID for an app without a clock of its own
 */
export async function fireDueTimers(app: LoomApp): Promise<void> {
  clockOf(app);
  await quiet(app);
}

/** Turns of the event loop in a row in which nothing happened: what an effect does in one of them is heard in the next. */
const CALM_TURNS = 3;

async function quiet(app: LoomApp): Promise<void> {
  const clock = clockOf(app);
  await app.start();
  for (let calm = 0; calm < CALM_TURNS; calm++) {
    await new Promise((resolve) => setImmediate(resolve));
    const { ready = 0, commits = 0 } = app.runtime.load ?? {};
    if (clock.pending + ready + commits > 0) calm = 0;
  }
}
