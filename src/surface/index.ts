/// <reference types="node" preserve="true" />

export { type SurfaceEmitter, surface } from "../kernel/index.js";
export { ProjectionRuntime } from "./projection-runtime.js";
