// Footprint: which execution a thread is at, in memory that outlives the thread.
//
// F1  It is there also when the thread ends without a word, as for want of memory.
// F2  What a handler leaves running ends the thread under the name of the execution it belongs to.

import { AsyncLocalStorage } from "node:async_hooks";
import type { Footprints } from "../../actors/index.js";
import { ID_BYTES_MAX } from "../../kernel/ids.js";

const LENGTH_BYTES = 2;

/** The host's side. */
export class Footprint {
  readonly memory = new SharedArrayBuffer(LENGTH_BYTES + ID_BYTES_MAX);

  /** The execution the thread was at when it ended. */
  read(): string | undefined {
    const bytes = Buffer.from(this.memory);
    const length = bytes.readUInt16LE(0);
    return length === 0 ? undefined : bytes.toString("utf8", LENGTH_BYTES, LENGTH_BYTES + length);
  }
}

/** The thread's side. */
export function leaveFootprints(memory: SharedArrayBuffer): Footprints {
  const bytes = Buffer.from(memory);
  const handlers = new AsyncLocalStorage<string>();
  const stepOn = (executionId: string): void => {
    bytes.writeUInt16LE(bytes.write(executionId, LENGTH_BYTES), 0);
  };
  const stepOff = (): void => void bytes.writeUInt16LE(0, 0);
  const noteEnd = (): void => {
    const executionId = handlers.getStore();
    if (executionId !== undefined) stepOn(executionId); // F2
  };
  // These are the thread's own events, not those of the host's process.
  process.on("uncaughtExceptionMonitor", noteEnd);
  process.on("exit", noteEnd);
  return {
    stepOn,
    stepOff,
    follow(executionId, begin) {
      stepOn(executionId);
      try {
        handlers.run(executionId, begin);
      } finally {
        stepOff();
      }
    },
  };
}
