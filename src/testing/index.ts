/// <reference types="node" preserve="true" />

// For those who write stores: the suites a store has to pass to stand where LMDB stands. For those who test agents: models that were
// recorded once.

export { type ContentStoreSuiteOptions, type ContentUnderTest, contentStoreSuite } from "./content-suite.js";
export type { Capabilities, StoreUnderTest, SuiteRunner } from "./store-cases/bench.js";
export { type SnapshotStoreSuiteOptions, snapshotStoreSuite } from "./store-cases/snapshots.js";
export { type EventStoreSuiteOptions, eventStoreSuite } from "./store-suite.js";
export {
  type Cassette,
  emptyCassette,
  loadCassette,
  type RecordedAnswer,
  type Recording,
  saveCassette,
} from "./vcr/cassette.js";
export { MissingRecordingError } from "./vcr/missing-recording.js";
export type { RecordedPiece } from "./vcr/pieces.js";
export { recordingProvider } from "./vcr/recording-provider.js";
export { replayingProvider } from "./vcr/replaying-provider.js";
