// Quiet: the moment at which no promise reaction is left to run, so that every flow that could move has moved.
//
// Node runs the next-tick queue only once the microtask queue is empty, and the other way round. A next tick asked for
// from within a microtask therefore comes after every reaction the present ones lead to, however long the chain. This is
// cheaper than a macrotask and lets no I/O callback in between, which is what keeps turns deterministic.

export function quiet(): Promise<void> {
  return new Promise((resolve) => queueMicrotask(() => process.nextTick(resolve)));
}
