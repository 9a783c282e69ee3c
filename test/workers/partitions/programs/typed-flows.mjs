// A thread does not inherit the loader of its host (on Node 20): it registers one itself, and then loads TypeScript.

import { register } from "tsx/esm/api";

register();
export const { double } = await import("./typed-flows.ts");
