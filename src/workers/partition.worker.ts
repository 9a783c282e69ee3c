// A partition thread's entry: gives it the clock and the randomness of its thread.

import { workerData } from "node:worker_threads";
import { systemClock, systemEntropy } from "../app/clock.js";
import type { ThreadSetup } from "./partitions/setup.js";
import { runPartitions } from "./partitions/thread/run-partitions.js";

runPartitions(workerData as ThreadSetup, { clock: systemClock(), entropy: systemEntropy });
