// What partition threads load: the flow, and the witness around its steps.

import { Counter } from "../shared/counter.js";
import { auditOfThread } from "./threads.js";

const { data, killAtLine } = auditOfThread();

export { auditPackage } from "./flow.js";
export const effectMiddleware = [new Counter(data.counter, killAtLine).middleware];
