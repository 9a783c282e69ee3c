// createTestApp: an app for tests, in memory unless it is told otherwise, on a clock that stands still if that is asked for.

import type { LoomConfig } from "../../app/config.js";
import { composeApp, type LoomApp } from "../../app/define-config.js";
import { invalidOption } from "../../kernel/index.js";
import { TestClock } from "./test-clock.js";

export interface TestAppConfig extends Partial<LoomConfig> {
  /**
   * A clock that stands still until `advanceTime` moves it, from 1 January 2026, UTC: events, timers, limits of time and `ctx.now()` go
   * by it. Effects that wait by themselves do not. Default false: the host's clock.
   */
  clock?: boolean | undefined;
}

const clocks = new WeakMap<LoomApp, TestClock>();

/**
 * An app for a test: `defineConfig`, with `{ kind: "memory" }` for a storage that is not given. Close it when the test is over.
 *
 * @throws CONFIG_INVALID for `clock` beside `execution.now`, which is a clock already, or beside `workers`, whose threads have the system's;
 *   what `defineConfig` throws
 */
export function createTestApp(config: TestAppConfig = {}): LoomApp {
  const { clock: hasClock = false, storage = { kind: "memory" }, ...rest } = config;
  const options = { ...rest, storage };
  if (!hasClock) return composeApp(options);
  for (const [option, given] of [
    ["execution.now", config.execution?.now],
    ["workers", config.workers],
  ] as const) {
    if (given === undefined) continue;
    throw invalidOption("createTestApp: clock", `does not go with ${option}: leave one of them out`);
  }
  const clock = new TestClock();
  const app = composeApp(options, clock);
  const testApp: LoomApp = {
    ...app,
    close: (closing) => {
      clock.letGo();
      return app.close(closing);
    },
  };
  clocks.set(testApp, clock);
  return testApp;
}

/** The clock of an app that was made with one. */
export function clockOf(app: LoomApp): TestClock {
  const clock = clocks.get(app);
  if (clock) return clock;
  throw invalidOption(
    "createTestApp: clock",
    "must be true for an app whose time a test moves: createTestApp({ clock: true })",
  );
}
