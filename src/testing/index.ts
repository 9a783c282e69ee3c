/// <reference types="node" preserve="true" />

// For those who test programs: apps in memory whose time stands still, waits, and what `expect` may say of executions; models that were
// recorded once. For those who write stores: the suites a store has to pass to stand where LMDB stands.

export type { EffectExecutor, Invocation, LateOutcome, Outcome } from "../effects/index.js";
export { advanceTime, fireDueTimers } from "./app/advance-time.js";
export { createTestApp, type TestAppConfig } from "./app/create-test-app.js";
export { captureGolden, driveToSuspend, type Resumable, resumeWith } from "./app/driving.js";
export { type ExecutionUnderTest, type HeddleMatchers, heddleMatchers } from "./app/matchers.js";
export { getSurfaceState, type WaitOptions, waitFor, waitForPhase } from "./app/waiting.js";
export { type ContentStoreSuiteOptions, type ContentUnderTest, contentStoreSuite } from "./content-suite.js";
export type { PoolCapabilities, PoolProgram, PoolUnderTest } from "./pool-cases/bench.js";
export { type EffectPoolSuiteOptions, effectPoolSuite, executorOf } from "./pool-suite.js";
export type { FaultName } from "./sim/faults.js";
export type { SimulatedEffect, SimulatedEffects } from "./simulate/effect-witness.js";
export {
  assertDeterministic,
  type FailureKind,
  type ScheduleFailure,
  type SimulateOptions,
  type SimulationReport,
  simulate,
} from "./simulate/simulate.js";
export { witness } from "./simulate/witness.js";
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
