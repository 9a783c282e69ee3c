// What the threads of the pool load: the effects.

import { effectsOn } from "./effects.js";
import { auditOfThread } from "./threads.js";

export const effects = effectsOn(auditOfThread().data.rows);
