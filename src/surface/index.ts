/// <reference types="node" preserve="true" />

export { type SurfaceEmitter, surface } from "../kernel/index.js";
export {
  ProgressHub,
  type ProgressHubOptions,
  type ProgressListener,
  type ProgressPiece,
  progressHub,
} from "./progress-hub.js";
export { ProjectionRuntime } from "./projection-runtime.js";
