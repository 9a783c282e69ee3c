// The effects of the crash matrix, inline or in the pool: they write to the outside world what they do, and may take the
// process down in the middle of it.
//
// HEDDLE_MATRIX = '{ "file", "calls", "die"? }': where the outside world is, how many calls of `pay` are made, and the point at
// which the process ends, once all of them have got there. Without `die` nobody waits for anybody.

import { fsyncSync, openSync, writeSync } from "node:fs";

const { file, calls, die } = JSON.parse(process.env.HEDDLE_MATRIX);
const outside = openSync(file, "a");

/** On the disk before the call returns: whatever happens to us afterwards, the world has seen it. */
function tell(moment, { executionId, stepId, idempotencyKey, attempt }) {
  writeSync(outside, `${JSON.stringify({ moment, executionId, stepId, idempotencyKey, attempt })}\n`);
  fsyncSync(outside);
}

/** Where all calls wait for each other, so that none has an outcome before the last has got so far. */
function meeting(point) {
  let arrived = 0;
  let open;
  const opened = new Promise((resolve) => {
    open = resolve;
  });
  return () => {
    if (die === undefined) return;
    if (++arrived === calls) {
      if (die.point === point) process.kill(process.pid, "SIGKILL");
      open();
    }
    return opened;
  };
}

const running = meeting("running");
const finished = meeting("finished");

export const effects = {
  pay: {
    kind: "tool",
    async execute(_input, ctx) {
      tell("start", ctx);
      await running();
      tell("finish", ctx);
      await finished();
      return `paid in attempt ${ctx.attempt}`;
    },
  },
  note: {
    kind: "tool",
    execute(_input, ctx) {
      tell("start", ctx);
      tell("finish", ctx);
      return "noted";
    },
  },
};
