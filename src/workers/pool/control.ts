// What a thread of the pool answers through Comlink (control-line.ts).

import type { Answer } from "../control-line.js";
import type { LoopFigures } from "../loop-figures.js";
import type { EffectDescription, RunningCall } from "./report.js";

export interface ThreadControl {
  describe(): Promise<Answer<EffectDescription[]>>;
  stats(): Promise<Answer<LoopFigures>>;
  inspect(): Promise<Answer<RunningCall[]>>;
  /** How many results a packet holds before it leaves. */
  tune(maxCalls: number): Promise<Answer<null>>;
}
