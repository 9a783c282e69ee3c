// The conformance suites of stores: what heddle relies on in an EventStore and in a SnapshotStore, as tests.
//
// They take `describe` and `it` from any runner that has them and assert with node:assert, so that this module brings no
// test runner into a program. A store that passes can stand where LMDB stands.

import type { ListenerErrorHandler } from "../kernel/store/index.js";
import type { ExecutionCommit } from "../kernel/store/spi.js";
import type { Capabilities, StoreUnderTest, SuiteRunner, Test } from "./store-cases/bench.js";
import { commitTests } from "./store-cases/commits.js";
import { headerTests } from "./store-cases/headers.js";
import { identifierTests } from "./store-cases/identifiers.js";
import { listTests } from "./store-cases/lists.js";
import { meterTests } from "./store-cases/meters.js";
import { ownershipTests } from "./store-cases/ownership.js";
import { contentTests, readingTests } from "./store-cases/reading.js";
import { listenerTests, subscriptionTests } from "./store-cases/subscriptions.js";
import { timerTests } from "./store-cases/timers.js";

export interface EventStoreSuiteOptions extends SuiteRunner {
  readonly name: string;
  readonly open: (options: {
    readonly partitions: number;
    readonly onListenerError: ListenerErrorHandler;
  }) => Promise<StoreUnderTest>;
  readonly capabilities: Capabilities;
}

export function eventStoreSuite({ name, describe, it, open, capabilities }: EventStoreSuiteOptions): void {
  const test: Test = (title, run, partitions = 1) => {
    it(title, async () => {
      const listenerErrors: unknown[] = [];
      const underTest = await open({
        partitions,
        onListenerError: (error) => void listenerErrors.push(error),
      });
      try {
        const { store } = underTest;
        const log = await store.open(0);
        const commit = (...executions: ExecutionCommit[]): Promise<void> => log.commit({ executions });
        await run({ store, log, listenerErrors, underTest, commit });
      } finally {
        await underTest.dispose();
      }
    });
  };
  describe(`${name}: event store`, () => {
    describe("reading a log", () => readingTests(test));
    describe("what is read", () => contentTests(test));
    describe("headers and statuses", () => headerTests(test));
    describe("commits", () => commitTests(test));
    describe("timers", () => timerTests(test));
    describe("meters", () => meterTests(test, capabilities));
    describe("lists", () => listTests(test));
    describe("subscriptions", () => subscriptionTests(test));
    describe("listeners", () => listenerTests(test));
    describe("ownership", () => ownershipTests(test, capabilities));
    describe("identifiers (C-LOG-01)", () => identifierTests(test));
  });
}
