// Logs: every execution's log as it was seen written. It follows the disk, and knows nothing of what is behind it.

import { ExecutionLog } from "./execution-log.js";
import { type Observation, type Observer, Violation } from "./observation.js";

export class Logs implements Observer {
  readonly #byId = new Map<string, ExecutionLog>();
  /** Whether the clock was ever set back: then a retry that was dispatched may look like one that is not due yet. */
  wasSetBack = false;
  /** Counts what changed, so that readers know when to look again. */
  version = 0;

  of(executionId: string): ExecutionLog {
    let log = this.#byId.get(executionId);
    if (!log) this.#byId.set(executionId, (log = new ExecutionLog(executionId, this)));
    return log;
  }

  see(observation: Observation): void {
    switch (observation.kind) {
      case "clockSet":
        this.wasSetBack ||= observation.byMs < 0;
        break;
      case "written":
        this.version++;
        this.of(observation.executionId).append(observation.record);
        break;
      case "flushed": {
        this.version++;
        const log = this.of(observation.executionId);
        log.durable = Math.max(log.durable, observation.length);
        break;
      }
      case "lost": {
        this.version++;
        const log = this.of(observation.executionId);
        if (observation.length < log.durable)
          throw new Violation(
            "K2",
            `${log.executionId} lost events from ${observation.length} on; ${log.durable} were flushed.`,
          );
        log.truncate(observation.length);
        break;
      }
      default:
    }
  }
}
