export { type SurfaceEmitter, surface } from "../kernel/index.js";
export { ProjectionRuntime } from "./projection-runtime.js";
