/// <reference types="node" preserve="true" />

// For those who write stores: the suites a store has to pass to stand where LMDB stands.

export { type ContentStoreSuiteOptions, type ContentUnderTest, contentStoreSuite } from "./content-suite.js";
export type { Capabilities, StoreUnderTest, SuiteRunner } from "./store-cases/bench.js";
export { type SnapshotStoreSuiteOptions, snapshotStoreSuite } from "./store-cases/snapshots.js";
export { type EventStoreSuiteOptions, eventStoreSuite } from "./store-suite.js";
