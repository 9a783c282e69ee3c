// Quiet: the moment at which no promise reaction is left to run, so that every flow that could move has moved.
//
// Node runs the next-tick queue only once the microtask queue is empty, and the other way round. A next tick asked for
// from within a microtask therefore comes after every reaction the present ones lead to, however long the chain. This is
// cheaper than a macrotask and lets no I/O callback in between, which is what keeps turns deterministic.

// Its reaction is a microtask. `queueMicrotask` makes an async resource for each, which costs as much as all the rest.
const REACHED = Promise.resolve();

export function quiet(): Promise<void> {
  return new Promise((resolve) => void REACHED.then(() => process.nextTick(resolve)));
}
